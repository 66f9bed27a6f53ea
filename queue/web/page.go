package web

import (
	"html/template"
	"net/http"

	"qrunner/lists"
)

// page is what is shown: a text, and a button or links.
type page struct {
	Title, Text string
	// Button submits Field with Value to the page's own address; "": there is none.
	Button, Field, Value string
	Links                []link
}

type link struct {
	Text string
	To   template.URL
}

// layout is every page. It needs nothing from anywhere else.
const layout = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>body{font-family:sans-serif;max-width:36em;margin:3em auto;padding:0 1em;line-height:1.5}button{font-size:1em;padding:.5em 1.5em}</style>
</head>
<body>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
{{if .Button}}<form method="post"><input type="hidden" name="{{.Field}}" value="{{.Value}}"><button type="submit">{{.Button}}</button></form>
{{end}}{{range .Links}}<p><a href="{{.To}}">{{.Text}}</a></p>
{{end}}</body>
</html>
`

// show writes a page.
func (s *site) show(w http.ResponseWriter, code int, p page) {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		http.Error(w, p.Title, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_ = t.Execute(w, p) // the client has gone
}

// mailto is a link to one of a list's addresses, whose names need no escapes.
func mailto(id lists.ID, sub lists.SubAddress, query string) template.URL {
	return template.URL("mailto:" + string(id.Address(sub)) + query)
}
