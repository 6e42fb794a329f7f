package browsertest

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// timeout ends an operation of the browser that hangs.
const timeout = 10 * time.Minute

// tab is a page of the sandbox in a real browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string // on the console
}

// startBrowser starts a headless browser for the time of the test. open opens a page in a new tab.
func startBrowser(t *testing.T) (open func(t *testing.T, url string) *tab) {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no browser found; install Chromium (Debian: apt-get install chromium) or Chrome")
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(options,
		chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, url string) *tab {
		t.Helper()
		return openTab(ctx, t, url)
	}
}

func openTab(browser context.Context, t *testing.T, url string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	tab := &tab{t: t, ctx: ctx}
	messages := chromedp.Console(ctx)
	var listening sync.WaitGroup
	listening.Go(func() {
		for message, err := range messages {
			if err != nil {
				return
			}
			if message.Type == chromedp.ConsoleError || message.IsException() {
				tab.mu.Lock()
				tab.errors = append(tab.errors, message.String())
				tab.mu.Unlock()
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		listening.Wait()
	})
	tab.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url))
	tab.until(`document.querySelector("#controls button")`)
	return tab
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, timeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// value evaluates an expression in the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, timeout)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// until waits for an expression to become true.
func (b *tab) until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, timeout)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool]("Boolean("+expression+")")); err != nil {
		text := value[string](b, "document.body.innerText")
		b.t.Fatalf("never true: %s: %v; the page shows:\n%s", expression, err, text)
	}
}

// shows waits for an element to show this text.
func (b *tab) shows(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("[...document.querySelectorAll(%q)].some((one) => one.innerText.includes(%q))", selector, text))
}

// click presses the button, link or field of this accessible name with the mouse.
func (b *tab) click(name string) {
	b.t.Helper()
	b.until(fmt.Sprintf("%s(%q)", namedJS, name))
	b.do(chromedp.Click(chromedp.JSPath(fmt.Sprintf("%s(%q)", namedJS, name))))
}

// retype replaces what is in the field of this id.
func (b *tab) retype(id, keys string) {
	b.t.Helper()
	value[any](b, fmt.Sprintf("((field) => { field.focus(); field.select(); })(document.getElementById(%q))", id))
	b.do(chromedp.KeyEvent(keys))
}

// namedJS finds a control by its accessible name.
const namedJS = `((name) => [...document.querySelectorAll("button, a, summary, input, label, select")].find((one) =>
	(one.getAttribute("aria-label") || one.innerText || "").trim() === name))`

// tabbed presses Tab until the focus is back at the start, and returns the names of the focused elements.
func (b *tab) tabbed() []string {
	b.t.Helper()
	var names []string
	for range 500 {
		b.do(chromedp.KeyEvent("\t"))
		name := value[string](b, `((one) => one === document.body ? "" :
			(one.getAttribute("aria-label") || one.labels?.[0]?.innerText || one.innerText).trim())(document.activeElement)`)
		if name == "" || len(names) > 0 && name == names[0] {
			return names
		}
		names = append(names, name)
	}
	b.t.Fatalf("the focus never returns to the start: %q", names)
	return nil
}

// logged returns the errors on the console.
func (b *tab) logged() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.errors)
}
