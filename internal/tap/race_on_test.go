//go:build race && unix

package tap

const underRace = true
