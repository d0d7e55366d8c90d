package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A loader is one run.
type loader struct {
	table   io.Writer // a write is a batch
	rejects io.Writer
	batch   int
	price   func(ctx context.Context, product string) (cents int, err error)
	server  *stint.Limiter // of price

	// Each counter is written by one stage, and read when all stages have
	// finished.
	read, rejected, inserted, batches int
}

// A row is a record of the input.
type row struct {
	line   int
	fields []string
	bad    error // why there are no fields
}

// An order is a parsed row.
type order struct {
	Line     int    `json:"line"`
	ID       string `json:"id"`
	Product  string `json:"product"`
	Quantity int    `json:"quantity"`
	Cents    int    `json:"cents"` // of the whole order
	bad      error  // why it is rejected
}

func (o order) good() bool { return o.bad == nil }

// load returns when all input has been inserted or rejected, or with the first
// error.
func (l *loader) load(ctx context.Context, in io.Reader) error {
	rows := stream.Generate(func(_ context.Context, emit func(row) bool) error { return readRows(in, emit) })
	orders := stream.Map(rows, l.parse)
	priced := stream.ParMap(orders, l.addPrice, l.server)
	good := stream.Filter(stream.MapErr(priced, l.reject), order.good)
	batches := stream.Chunk(good, l.batch, time.Second) // partial batches too, when the input is slow
	return stream.Each(ctx, batches, l.insert)
}

// readRows emits the records of a CSV input. A bad record is a row with an error;
// readRows returns any other error.
func readRows(in io.Reader, emit func(row) bool) error {
	r := csv.NewReader(in)
	columns := []string{"id", "product", "quantity"}
	if header, err := r.Read(); !slices.Equal(header, columns) {
		return fmt.Errorf("first line: %w", cmp.Or(err, fmt.Errorf("columns %q, want %q", header, columns)))
	}
	for {
		next, err := readRow(r)
		if err == io.EOF {
			return nil
		}
		if err != nil || !emit(next) {
			return err
		}
	}
}

func readRow(r *csv.Reader) (row, error) {
	fields, err := r.Read()
	if e, ok := errors.AsType[*csv.ParseError](err); ok {
		if e.Line > e.StartLine { // an unclosed quote
			return row{line: e.StartLine, bad: fmt.Errorf("%w, with all up to line %d", e.Err, e.Line)}, nil
		}
		return row{line: e.Line, bad: e.Err}, nil
	}
	if err != nil {
		return row{}, err
	}
	line, _ := r.FieldPos(0)
	return row{line: line, fields: fields}, nil
}

func (l *loader) parse(r row) order {
	l.read++
	if r.bad != nil {
		return order{Line: r.line, bad: r.bad}
	}
	o := order{Line: r.line, ID: r.fields[0], Product: r.fields[1]}
	n, err := strconv.Atoi(r.fields[2])
	if err != nil || n < 1 || n > 10_000 {
		o.bad = fmt.Errorf("quantity %q: want a number from 1 to 10000", r.fields[2])
	}
	o.Quantity = n
	return o
}

// addPrice is called concurrently. An unknown product is an error of the order,
// any other error one of the server.
func (l *loader) addPrice(ctx context.Context, o order) (order, error) {
	if !o.good() {
		return o, nil
	}
	cents, err := l.price(ctx, o.Product)
	switch {
	case errors.Is(err, errUnknown):
		o.bad = fmt.Errorf("product %q: %w", o.Product, err)
	case err != nil:
		return o, fmt.Errorf("line %d: price of %s: %w", o.Line, o.Product, err)
	}
	o.Cents = cents * o.Quantity
	return o, nil
}

// reject writes bad rows with line and reason, and passes all rows on.
func (l *loader) reject(_ context.Context, o order) (order, error) {
	if o.good() {
		return o, nil
	}
	_, err := fmt.Fprintf(l.rejects, "line %d: %v\n", o.Line, o.bad)
	if err == nil {
		l.rejected++
	}
	return o, err
}

// insert stands for a database statement.
func (l *loader) insert(batch []order) error {
	var lines bytes.Buffer
	for _, o := range batch {
		if err := json.NewEncoder(&lines).Encode(o); err != nil {
			return err
		}
	}
	if _, err := l.table.Write(lines.Bytes()); err != nil {
		return err
	}
	l.inserted += len(batch)
	l.batches++
	return nil
}

// String summarizes a finished load. Dropped rows were in flight when an error
// ended the run.
func (l *loader) String() string {
	dropped := l.read - l.inserted - l.rejected
	return fmt.Sprintf("orders: %d read, %d inserted, %d rejected, %d dropped; batches: %d", l.read, l.inserted, l.rejected, dropped, l.batches)
}
