package checks
import ("testing";"mcpsnoop/internal/judge";"mcpsnoop/internal/mcp")
func TestZZ(t *testing.T){ judge.DumpCounts(Registry(), mcp.V2025_11_25); judge.DumpCounts(Registry(), mcp.V2026_07_28) }
