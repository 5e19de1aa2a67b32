package checks

import "mcpsnoop/internal/judge"

var (
	paginationCursorOpacity         = &judge.Check{ID: "pagination.cursor-opacity"}
	paginationInvalidCursorRejected = &judge.Check{ID: "pagination.invalid-cursor-rejected"}
)
