package monitoring

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// Samples are series in memory, which the engine queries. The zero value is empty.
type Samples struct {
	series map[string]*series // by their labels
}

type series struct {
	labels labels.Labels
	values []chunks.Sample
}

// sample is one value of a series.
type sample struct {
	at    int64 // in milliseconds
	value float64
}

func (s sample) T() int64                    { return s.at }
func (sample) ST() int64                     { return 0 }
func (s sample) F() float64                  { return s.value }
func (sample) H() *histogram.Histogram       { return nil }
func (sample) FH() *histogram.FloatHistogram { return nil }
func (sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample         { return s }

// Add adds a value to a series. Times do not go back.
func (s *Samples) Add(of labels.Labels, at time.Time, value float64) {
	if s.series == nil {
		s.series = map[string]*series{}
	}
	name := of.String()
	if s.series[name] == nil {
		s.series[name] = &series{labels: of}
	}
	s.series[name].values = append(s.series[name].values, sample{at.UnixMilli(), value})
}

// Querier is called by the engine.
func (s *Samples) Querier(_, _ int64) (storage.Querier, error) { return querier{s}, nil }

type querier struct{ samples *Samples }

func (querier) LabelValues(
	context.Context, string, *storage.LabelHints, ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (querier) LabelNames(
	context.Context, *storage.LabelHints, ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (querier) Close() error { return nil }

// Select gives the series that match.
func (q querier) Select(
	_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher,
) storage.SeriesSet {
	set := &seriesSet{}
	for _, candidate := range q.samples.series {
		if matches(candidate.labels, matchers) {
			set.left = append(set.left, storage.NewListSeries(candidate.labels, candidate.values))
		}
	}
	return set
}

func matches(of labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(of.Get(m.Name)) {
			return false
		}
	}
	return true
}

type seriesSet struct {
	left    []storage.Series
	current storage.Series
}

func (s *seriesSet) Next() bool {
	if len(s.left) == 0 {
		return false
	}
	s.current, s.left = s.left[0], s.left[1:]
	return true
}
func (s *seriesSet) At() storage.Series              { return s.current }
func (*seriesSet) Err() error                        { return nil }
func (*seriesSet) Warnings() annotations.Annotations { return nil }

func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: 50_000_000, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{}),
		NoStepSubqueryIntervalFn: func(int64) int64 { return time.Minute.Milliseconds() },
	})
}

// instant gives the result of a query at one time.
func instant(engine *promql.Engine, samples *Samples, query string, at time.Time) (promql.Vector, error) {
	prepared, err := engine.NewInstantQuery(context.Background(), samples, nil, query, at)
	if err != nil {
		return nil, err
	}
	defer prepared.Close()
	return prepared.Exec(context.Background()).Vector()
}
