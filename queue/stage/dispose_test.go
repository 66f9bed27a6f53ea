package stage

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/queue"
)

const picture = "From: Anne <anne@example.org>\r\nTo: ant@lists.example.com\r\nSubject: hi\r\nMessage-ID: <1@example.org>\r\n" +
	"Content-Type: image/gif\r\n\r\nGIF\r\n"

func TestDispose(t *testing.T) {
	for _, tc := range []struct {
		action, event, to string
		fate              queue.Fate
		attached          bool
	}{
		{"discard", "discarded", "", queue.FateDone, false},
		{"reject", "rejected", "anne@example.org", queue.FateDone, false},
		{"forward", "forwarded", "ant-owner@lists.example.com", queue.FateDone, true},
		{"preserve", "preserved", "", queue.FateShunt, false},
	} {
		w := newWorld(t, liststest.Ant, "filter_content", "yes", "filter_types", "image", "filter_action", tc.action)
		o := w.process(w.entry("anne@example.org", picture))
		if o.Event != tc.event || o.Fate != tc.fate || !strings.Contains(o.Reason, "image/gif is not allowed") || sent(o) != nil || child(o, queue.Archive) != nil {
			t.Errorf("%s: %+v", tc.action, o)
		}
		n := child(o, queue.Virgin)
		switch {
		case n == nil:
			if tc.to != "" {
				t.Errorf("%s: nobody is told", tc.action)
			}
		case get(n.Raw, "To") != tc.to, bytes.Contains(n.Raw, []byte("\r\n\r\nGIF\r\n")) != tc.attached:
			t.Errorf("%s: notice\n%s", tc.action, n.Raw)
		}
	}
}

// keyless cannot sign for the moment.
type keyless struct{}

func (keyless) Check(context.Context, *lists.Post) error                   { return nil }
func (keyless) Aligned(context.Context, *lists.Post, string) (bool, error) { return false, nil }
func (keyless) Sign(context.Context, *lists.Post) error                    { return lists.ErrTrouble }

func TestTroubleOfHandlersWaits(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	w.conf.Authority = keyless{}
	e := w.entry("anne@example.org", hello)
	_, err := Table(w.conf)[queue.In].Process(context.Background(), &queue.Work{Entry: e, List: w.state.List(), State: w.state})
	if !errors.Is(err, queue.ErrTrouble) {
		t.Errorf("%v", err)
	}
}
