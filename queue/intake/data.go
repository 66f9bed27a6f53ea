package intake

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"time"
)

// endOfData is the line that ends a message, behind a CR LF.
const endOfData = ".\r\n"

// message reads what follows DATA into b, dots unstuffed (RFC 5321 §4.5.2), up to
// the end of data. A message over a limit is read to its end all the same, since a
// client looks for the answer only then; b knows. After an error the connection is
// of no use.
//
// Our own reading, because go-smtp's misses the end of data behind CR CR LF, loses
// the CR of a line that begins with "." CR, and refuses a message that is exactly as
// long as the limit.
func (c *conn) message(b *body) error {
	c.data = true
	c.until = time.Now().Add(c.gate.limits.Data)
	begin, last := true, byte('\n')
	for {
		frag, err := c.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			c.failed = err
			return fmt.Errorf("%w: %w", errCut, err)
		}
		if begin && frag[0] == '.' {
			if string(frag) == endOfData {
				c.data = false
				c.pending = []byte(endOfData) // go-smtp waits for it
				return nil
			}
			frag = frag[1:]
		}
		begin = bytes.HasSuffix(frag, []byte("\r\n")) || last == '\r' && string(frag) == "\n"
		last = frag[len(frag)-1]
		b.add(frag)
	}
}
