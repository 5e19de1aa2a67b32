package judge
import ("fmt";"mcpsnoop/internal/mcp")
func DumpCounts(r *Registry, rev mcp.Revision){
 for k:=range kinds { for side:=range 2 {
  n:=func(t *table) string { c:=&t[k][side]; s:=fmt.Sprint(len(c.any)); for m,l:=range c.byMethod { if m=="tools/call"||m=="resources/read"||m=="notifications/progress" {s+=fmt.Sprintf(" %s:%d",m,len(l))} }; return s}
  fmt.Printf("%v kind %d side %d before %s | %s | after %s\n",rev,k,side,n(&r.before),n(&r.byRev[rev]),n(&r.after)) } } }
