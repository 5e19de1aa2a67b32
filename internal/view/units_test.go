package view

import (
	"math"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	m.Run()
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0ms"}, {0, "0ms"}, {49 * time.Microsecond, "0ms"}, {50 * time.Microsecond, "0.1ms"},
		{400 * time.Microsecond, "0.4ms"}, {949 * time.Microsecond, "0.9ms"}, {950 * time.Microsecond, "1ms"},
		{12 * time.Millisecond, "12ms"}, {850 * time.Millisecond, "850ms"}, {999499 * time.Microsecond, "999ms"},
		{999500 * time.Microsecond, "1.00s"}, {time.Second, "1.00s"}, {3200 * time.Millisecond, "3.20s"},
		{7310 * time.Millisecond, "7.31s"}, {9994 * time.Millisecond, "9.99s"}, {9995 * time.Millisecond, "10.0s"},
		{16 * time.Second, "16.0s"}, {59949 * time.Millisecond, "59.9s"}, {59950 * time.Millisecond, "1m00s"},
		{time.Minute, "1m00s"}, {125 * time.Second, "2m05s"}, {59*time.Minute + 59*time.Second, "59m59s"},
		{59*time.Minute + 59*time.Second + 500*time.Millisecond, "1h00m"}, {62 * time.Minute, "1h02m"},
		{16*time.Hour + 12*time.Minute, "16h12m"}, {27 * time.Hour, "1d03h"}, {240 * time.Hour, "10d00h"},
	} {
		if got := Duration(c.d); got != c.want {
			t.Errorf("Duration(%v) = %q, want %q", c.d, got, c.want)
		}
	}
	if got := Seconds(125400 * time.Millisecond); got != "125s" {
		t.Errorf("Seconds = %q", got)
	}
}

func TestAge(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": -time.Second, "2s": 2900 * time.Millisecond, "59s": 59 * time.Second, "1m": time.Minute,
		"46m": 46*time.Minute + 59*time.Second, "1h": time.Hour, "23h": 24*time.Hour - 1, "1d": 47 * time.Hour, "400d": 400 * 24 * time.Hour,
	} {
		if got := Age(d); got != want {
			t.Errorf("Age(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{-1, "0B"}, {0, "0B"}, {37, "37B"}, {812, "812B"}, {999, "999B"}, {1000, "1.0K"}, {1024, "1.0K"}, {2253, "2.2K"},
		{18842, "18.4K"}, {102348, "99.9K"}, {102400, "100K"}, {831488, "812K"}, {1 << 20, "1.0M"}, {1023 << 10, "1.0M"},
		{16 << 20, "16.0M"}, {1 << 30, "1.0G"}, {5 << 40, "5120G"},
	} {
		if got := Size(c.n); got != c.want {
			t.Errorf("Size(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{0, "0"}, {37, "37"}, {99999, "99999"}, {100000, "100k"}, {124400, "124k"}, {124500, "125k"}, {999499, "999k"},
		{999500, "1.00M"}, {1200000, "1.20M"}, {9994999, "9.99M"}, {12345678, "12.3M"}, {123456789, "123M"}, {5e9, "5000M"},
	} {
		if got := Count(c.n); got != c.want {
			t.Errorf("Count(%d) = %q, want %q", c.n, got, c.want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1204: "1,204", 1234567: "1,234,567", -1204: "-1,204"} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
	if got := Number(uint64(math.MaxUint64)); got != "18,446,744,073,709,551,615" {
		t.Errorf("Number of the largest: %q", got)
	}
	if got := Plural(1, "frame", "frames") + " " + Plural(1204, "frame", "frames"); got != "1 frame 1,204 frames" {
		t.Errorf("Plural: %q", got)
	}
}

func TestTime(t *testing.T) {
	at := time.Date(2026, 11, 30, 19, 41, 56, 599_999_999, time.UTC)
	now := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)
	for got, want := range map[string]string{
		Time(at): "19:41:56.599", Moment(at, now): "19:41:56",
		Moment(at.AddDate(0, 0, -1), now): "2026-11-29 19:41:56", Moment(time.Time{}, now): "–",
		DateTime(at): "2026-11-30 19:41:56.599",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
