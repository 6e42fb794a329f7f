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

// timeout is how long a browser may take for anything.
const timeout = 30 * time.Second

// tab is a page of the sandbox in a real browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string // on the console
}

// startBrowser starts a headless browser, which ends with the test, and returns what
// opens the page of a sandbox in a tab of its own.
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
		t.Skip("SKIPPED: the page was not tried in a browser. Install Chromium (Debian: apt-get install chromium) or Chrome.")
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	allocator, end := chromedp.NewExecAllocator(context.Background(), append(options,
		chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))...)
	t.Cleanup(end)
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
		b.t.Fatalf("it never became true that %s: %v; the page says:\n%s", expression, err, value[string](b, "document.body.innerText"))
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

// namedJS finds what a person can press by the name that is read out for it.
const namedJS = `((name) => [...document.querySelectorAll("button, a, summary, input, label, select")].find((one) =>
	(one.getAttribute("aria-label") || one.innerText || "").trim() === name))`

// tabbed presses Tab until focus is back at the start, and returns the names of what had it.
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
	b.t.Fatalf("focus goes on for ever: %q", names)
	return nil
}

// logged returns the errors on the console.
func (b *tab) logged() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.errors)
}
