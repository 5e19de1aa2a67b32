package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/term"
)

// The parts of SARIF 2.1.0 that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"semanticVersion,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Full  sarifText `json:"fullDescription"`
		Help  sarifText `json:"help"`
		URI   string    `json:"helpUri"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	}
	sarifRegion struct {
		StartLine int32 `json:"startLine"`
	}
)

const sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"

// WriteSARIF renders the findings as SARIF 2.1.0. Paths below dir are relative to it.
func (v *Verdicts) WriteSARIF(w io.Writer, dir string) error {
	run := sarifRun{Results: []sarifResult{}}
	driver := sarifDriver{Name: "mcpsnoop", Rules: []sarifRule{}}
	if semantic(v.Version) {
		driver.Version = strings.TrimPrefix(v.Version, "v")
	}
	index, marks := map[string]int{}, map[string]int{}
	add := func(s *Verdict, rows *judge.Rows) {
		for i := range rows.List {
			r := &rows.List[i]
			for j := range r.Findings {
				at, known := index[r.Clause.ID]
				if !known {
					at = len(driver.Rules)
					index[r.Clause.ID] = at
					driver.Rules = append(driver.Rules, ruleOf(r.Clause, rows))
				}
				result := s.result(r, &r.Findings[j], at, dir)
				result.Fingerprints = map[string]string{"mcpsnoopFinding/v1": s.fingerprint(r, &r.Findings[j], marks)}
				run.Results = append(run.Results, result)
			}
		}
	}
	for i := range v.Sessions {
		s := &v.Sessions[i]
		add(s, &s.Rows)
		for j := range s.Also {
			add(s, &s.Also[j])
		}
	}
	run.Tool.Driver = driver
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
}

// semantic reports whether a version is one that SARIF takes: major.minor.patch.
func semantic(version string) bool {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) != 3 {
		return false
	}
	for _, p := range parts {
		if _, err := strconv.ParseUint(p, 10, 32); err != nil {
			return false
		}
	}
	return true
}

func ruleOf(c *judge.Clause, rows *judge.Rows) sarifRule {
	help := c.Rule
	if len(c.Checks) > 0 && c.Checks[0].Fix != "" {
		help = c.Checks[0].Fix
	}
	return sarifRule{c.ID, sarifText{c.Rule}, sarifText{fmt.Sprintf("%s (%s): %s", c.ID, c.Level, c.Rule)}, sarifText{help}, c.URL(rows.Revision)}
}

func (s *Verdict) result(r *judge.Row, f *judge.Finding, index int, dir string) sarifResult {
	level := "warning"
	if r.Clause.Level.Binds() {
		level = "error"
	}
	out := sarifResult{
		Rule: r.Clause.ID, Index: index, Level: level,
		Message: sarifText{term.Escape(fmt.Sprintf("session %s, frame %d: %s", s.Session, f.Seq, f.Detail))},
	}
	if len(s.Files) == 0 {
		return out
	}
	file, line := int32(0), int32(0)
	if s.Place != nil {
		file, line = s.Place(f.Seq)
	}
	loc := sarifLocation{}
	loc.Physical.Artifact.URI = uriOf(s.Files[file], dir)
	if line > 0 {
		loc.Physical.Region = &sarifRegion{line}
	}
	out.Locations = []sarifLocation{loc}
	return out
}

// fingerprint names a finding, the same in every run over a log. Where a frame breaks a
// clause several times in the same words, they are counted.
func (s *Verdict) fingerprint(r *judge.Row, f *judge.Finding, marks map[string]int) string {
	mark := fmt.Sprintf("%s\x00%s\x00%d\x00%s", s.Session, r.Clause.ID, f.Seq, f.Detail)
	marks[mark]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", mark, marks[mark]))
	return hex.EncodeToString(sum[:8])
}

// uriOf spells a path as SARIF wants it.
func uriOf(path, dir string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return (&url.URL{Path: filepath.ToSlash(rel)}).String()
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}
