package fetch

import (
	"context"
	"net"
	"strconv"
)

// Connect opens a TCP connection and closes it again.
func Connect(ctx context.Context, address string, port uint16) error {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	return c.Close()
}
