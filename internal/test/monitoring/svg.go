package monitoring

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/promql"
)

// Sizes of the picture, in pixels.
const (
	column, unitHeight = 54, 26 // of Grafana's grid
	gap                = 6
	titleHeight        = 24
	legendHeight       = 16
	axisWidth          = 46
	maxLegendEntries   = 6 // entries
	maxPoints          = 90
)

var colors = []string{"#7eb26d", "#eab839", "#6ed0e0", "#ef843c", "#e24d42", "#1f78c1", "#ba43a9", "#b7a1d8", "#508642"}

// Draw draws the panels with what they show of a recording, as SVG.
func Draw(dashboard *Dashboard, recording *Recording) ([]byte, error) {
	height := 0
	for _, p := range dashboard.Panels {
		height = max(height, (p.Grid.Y+p.Grid.H)*unitHeight)
	}
	width, top := 24*column, 34
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" `+
		`font-family="sans-serif" font-size="11" fill="#ccccdc">`+"\n", width, height+top)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#111217"/>`+"\n", width, height+top)
	fmt.Fprintf(&out, `<text x="%d" y="22" font-size="15">%s</text>`+"\n", gap, html.EscapeString(dashboard.Title))
	for i := range dashboard.Panels {
		p := &dashboard.Panels[i]
		lines, err := p.Lines(recording)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Title, err)
		}
		d := drawing{&out, p, recording, p.Grid.X*column + gap/2, p.Grid.Y*unitHeight + gap/2 + top,
			p.Grid.W*column - gap, p.Grid.H*unitHeight - gap}
		d.frame()
		if p.Type == "stat" {
			d.number(lines[0])
		} else {
			d.graph(lines)
		}
	}
	out.WriteString("</svg>\n")
	return []byte(out.String()), nil
}

// drawing is one panel at its place.
type drawing struct {
	out        *strings.Builder
	panel      *Panel
	recording  *Recording
	x, y, w, h int
}

func (d *drawing) frame() {
	fmt.Fprintf(d.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="3" fill="#181b1f" stroke="#2c3235"/>`+"\n",
		d.x, d.y, d.w, d.h)
	d.text(d.x+8, d.y+16, `font-weight="bold"`, d.panel.Title)
}

func (d *drawing) text(x, y int, attributes, text string) {
	fmt.Fprintf(d.out, `<text x="%d" y="%d" %s>%s</text>`+"\n", x, y, attributes, html.EscapeString(text))
}

func (d *drawing) number(line Line) {
	last, color := line.Points[len(line.Points)-1].F, "#73bf69"
	for _, step := range d.panel.Fields.Defaults.Thresholds.Steps {
		if step.Value != nil && last >= *step.Value {
			color = "#f2495c"
		}
	}
	d.text(d.x+d.w/2, d.y+d.h/2+24, fmt.Sprintf(`font-size="30" fill=%q text-anchor="middle"`, color), d.format(last))
}

func (d *drawing) format(v float64) string {
	switch short := strconv.FormatFloat(v, 'g', 3, 64); d.panel.Fields.Defaults.Unit {
	case "bytes":
		return strconv.FormatFloat(v/(1<<20), 'f', 0, 64) + " MiB"
	case "s":
		if v > 0 && v < 1 {
			return strconv.FormatFloat(v*1000, 'f', 0, 64) + " ms"
		}
		return short + " s"
	case "reqps":
		return short + "/s"
	case "ops":
		return short + "/s"
	case "cpm":
		return short + "/min"
	default:
		if v >= 1000 {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return short
	}
}

// graph draws the lines, an axis, and the legend of the first ones.
func (d *drawing) graph(lines []Line) {
	rows := (min(len(lines), maxLegendEntries) + 1) / 2
	left, right := d.x+axisWidth, d.x+d.w-8
	top, bottom := d.y+titleHeight+4, d.y+d.h-rows*legendHeight-20
	highest := 0.0
	for _, line := range lines {
		for _, p := range line.Points {
			highest = math.Max(highest, p.F)
		}
	}
	highest = niceMaximum(highest)
	for i := range 3 {
		y := bottom - (bottom-top)*i/2
		fmt.Fprintf(d.out, `<path d="M%d %dH%d" stroke="#2c3235"/>`+"\n", left, y, right)
		d.text(left-5, y+4, `text-anchor="end" font-size="9" fill="#9a9da8"`, d.format(highest*float64(i)/2))
	}
	d.times(left, right, bottom+12)
	length := float64(d.recording.Last.UnixMilli() - d.recording.First.UnixMilli())
	for i, line := range lines {
		var path strings.Builder
		for j, p := range downsample(line.Points) {
			x := float64(left) + float64(right-left)*float64(p.T-d.recording.First.UnixMilli())/length
			y := float64(bottom) - float64(bottom-top)*p.F/highest
			fmt.Fprintf(&path, "%s%.0f %.1f", pick(j == 0, "M", "L"), x, y)
		}
		fmt.Fprintf(d.out, `<path d="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", &path, colors[i%len(colors)])
	}
	d.legend(lines, d.y+d.h-rows*legendHeight)
}

// times are the seconds since the beginning.
func (d *drawing) times(left, right, y int) {
	length := int(d.recording.Last.Sub(d.recording.First).Seconds())
	for at := 0; at <= length; at += 20 {
		d.text(left+(right-left)*at/length, y, `text-anchor="middle" font-size="9" fill="#9a9da8"`, fmt.Sprintf("%d s", at))
	}
}

func (d *drawing) legend(lines []Line, y int) {
	for i, line := range lines[:min(len(lines), maxLegendEntries)] {
		name, x := line.Name, d.x+8+i%2*d.w/2
		if i == maxLegendEntries-1 && len(lines) > maxLegendEntries {
			name = fmt.Sprintf("%s, and %d more", name, len(lines)-maxLegendEntries)
		}
		if most := (d.w/2 - 24) / 6; len(name) > most {
			name = name[:most-1] + "…"
		}
		fmt.Fprintf(d.out, `<rect x="%d" y="%d" width="10" height="3" fill="%s"/>`+"\n",
			x, y+i/2*legendHeight+3, colors[i%len(colors)])
		d.text(x+14, y+i/2*legendHeight+8, `font-size="10"`, strings.TrimSpace(name))
	}
}

// downsample keeps as many points as the picture can show: in each part, the highest one.
func downsample(points []promql.FPoint) []promql.FPoint {
	size := (len(points) + maxPoints - 1) / maxPoints
	var kept []promql.FPoint
	for part := range slices.Chunk(points, max(size, 1)) {
		kept = append(kept, slices.MaxFunc(part, func(a, b promql.FPoint) int {
			return int(math.Copysign(1, a.F-b.F))
		}))
	}
	return kept
}

// niceMaximum is a round number that is not below the highest one.
func niceMaximum(highest float64) float64 {
	if highest <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(highest)))
	for _, factor := range []float64{1, 2, 4, 5, 10} {
		if factor*power >= highest {
			return factor * power
		}
	}
	return 10 * power
}

func pick(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
