package main

// The node agent's HTTP API, in Kube-OVN's wire format, on a unix socket.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/containernetworking/cni/pkg/types"
)

type route struct {
	Destination string `json:"dst,omitempty"`
	Gateway     string `json:"gw,omitempty"`
}

// device holds the options of Kube-OVN's own NICs. The agent gets them unchanged.
type device struct {
	DeviceID                   string `json:"deviceID"`
	VhostUserSocketVolumeName  string `json:"vhost_user_socket_volume_name"`
	VhostUserSocketName        string `json:"vhost_user_socket_name"`
	VhostUserSocketConsumption string `json:"vhost_user_socket_consumption"`
}

// delRequest holds the fields of a request that the agent needs for a DEL. The other fields may be large.
type delRequest struct {
	CniType      string `json:"cni_type"`
	PodName      string `json:"pod_name"`
	PodNamespace string `json:"pod_namespace"`
	ContainerID  string `json:"container_id"`
	NetNs        string `json:"net_ns"`
	IfName       string `json:"if_name"`
	Provider     string `json:"provider"`
}

// cniRequest is Kube-OVN's request, in its order of fields.
type cniRequest struct {
	delRequest
	Routes   []route   `json:"routes"`
	DNS      types.DNS `json:"dns"`
	VfDriver string    `json:"vf_driver"`
	device
	PodUID     string `json:"pod_uid,omitempty"`     // ipledger's addition
	NfnNetwork string `json:"nfn_network,omitempty"` // ipledger's addition
	// TakesGateway is ipledger's addition: each address of the response must have its NodeGateway or its Gateway.
	TakesGateway bool `json:"takes_gateway,omitempty"`
}

// cniResponse covers both forms of Kube-OVN's response: `ips`, and the flat comma-joined fields of releases before v1.16.
type cniResponse struct {
	IPs                    []address
	Address, CIDR, Gateway string
	MacAddress             string `json:"mac_address"`
	Routes                 []route
	MTU                    int
	NicName, Error         string
	HostNicName            string `json:"host_nicname"` // ipledger's addition: the end on the node of a link that the agent made
	CNICode                uint   `json:"cni_code"`     // ipledger's addition: from 100, an error that no retry resolves
	// NICs is ipledger's addition: the responses of all NICs that one ADD made, of which this response is the first.
	NICs []cniResponse `json:"nics"`
}

// address is an address of the Pod; JSON names match in any case. A Gateway gets a default route.
type address struct {
	IP, CIDR, Gateway string
	NodeGateway       string `json:"node_gateway"` // ipledger's addition: a gateway without a default route
}

// addWaitVariable, in the environment of the runtime, is the number of seconds that an ADD waits for an agent.
const addWaitVariable = "IPLEDGER_ADD_WAIT_SECONDS"

const (
	// defaultAddWait is enough to replace the Pod of the agent. kubelet gives up a sandbox after four minutes.
	defaultAddWait = 40 * time.Second
	// shortWait is enough to restart the process of the agent. All other commands use it, because their callers need no answer.
	shortWait = 2 * time.Second
)

// addWait returns how long an ADD waits for the agent of a socket. No agent appears in a folder that does not exist.
func addWait(socket string) time.Duration {
	if !mayAppearLater(socket) {
		return shortWait
	}
	if seconds, err := strconv.ParseUint(os.Getenv(addWaitVariable), 10, 16); err == nil {
		return time.Duration(seconds) * time.Second
	}
	return defaultAddWait
}

// postAdd sends an ADD. It sends it again to the next agent if the agent ends before it responds: an ADD is idempotent.
func postAdd(socket string, request *cniRequest) (status int, body []byte, err error) {
	deadline := time.Now().Add(addWait(socket))
	for {
		// Longer than the agent's own limit of 20 s, because the agent's error names the cause.
		status, body, err = postJSON(socket, "/api/v1/add", request, limits{time.Until(deadline), 30 * time.Second})
		isEnding := status == statusAgentEnds || errors.As(err, new(noResponse))
		if !isEnding || time.Now().After(deadline) {
			return status, body, err
		}
		time.Sleep(dialInterval)
	}
}

// statusAgentEnds is the status of the response of an agent that is being stopped.
const statusAgentEnds = 503

// limits are how long a request waits for an agent that accepts it, and then for the response.
type limits struct{ agent, response time.Duration }

const dialInterval = 50 * time.Millisecond

// postJSON sends one HTTP request, and returns the status and body of the response. It does not use net/http, which makes
// each call 1.8 ms slower (docs/decisions/0005-plugin-in-go.md). An HTTP/1.0 response is never chunked and ends with the
// connection.
func postJSON(socket, path string, request any, limit limits) (status int, body []byte, err error) {
	connection, err := dialUntil(time.Now().Add(limit.agent), socket)
	if isRetryable(err) {
		return 0, nil, fmt.Errorf("%w: is the node agent running?", err)
	}
	if err != nil {
		return 0, nil, err
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(limit.response))
	content, _ := json.Marshal(request)
	fmt.Fprintf(connection, "POST %s HTTP/1.0\r\nHost: dummy\r\nContent-Type: application/json\r\n"+
		"Accept: application/json\r\n%sContent-Length: %d\r\n\r\n%s", path, traceHeader(), len(content), content)
	response, err := io.ReadAll(io.LimitReader(connection, maxResponseBytes))
	head, body, _ := bytes.Cut(response, []byte("\r\n\r\n"))
	if _, failed := fmt.Sscanf(string(head), "HTTP/%s %d", new(string), &status); failed != nil {
		return 0, nil, incomplete(fmt.Errorf("no HTTP response: %q: %w", head, cmp.Or(err, io.EOF)))
	}
	if err == nil && len(body) < contentLength(head) {
		err = io.ErrUnexpectedEOF
	}
	return status, body, incomplete(err)
}

const maxResponseBytes = 1 << 20

// noResponse is the error of an agent that ends before it has sent all of its response.
type noResponse struct{ error }

func (failed noResponse) Unwrap() error { return failed.error }

// incomplete marks the error of a read, unless the agent took too long.
func incomplete(err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return noResponse{err}
}

// contentLength returns the length that the head of a response announces; 0 if it announces none.
func contentLength(head []byte) int {
	for line := range strings.SplitSeq(string(head), "\r\n") {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "Content-Length") {
			length, _ := strconv.Atoi(strings.TrimSpace(value))
			return min(length, maxResponseBytes)
		}
	}
	return 0
}

// dialUntil connects to the agent. It repeats an attempt that may succeed later.
func dialUntil(deadline time.Time, socket string) (net.Conn, error) {
	connection, err := dial(socket)
	for isRetryable(err) && time.Now().Before(deadline) {
		time.Sleep(dialInterval)
		connection, err = dial(socket)
	}
	return connection, err
}

// traceHeader returns the runtime's W3C trace context as a header line, or "" without one. Any other character than those of
// a context could add a header. The agent parses the context.
func traceHeader() string {
	value := os.Getenv("TRACEPARENT")
	if len(value) != 55 || strings.Trim(value, "0123456789abcdef-") != "" {
		return ""
	}
	return "Traceparent: " + value + "\r\n"
}

// parseAgentResponse returns the response if its status is `expected`, else the agent's error as a CNI error.
func parseAgentResponse(operation string, status, expected int, body []byte) (*cniResponse, error) {
	response := &cniResponse{Error: truncate(string(body))} // a body that is not JSON is the error
	err := json.Unmarshal(body, response)
	response.Error = truncate(response.Error)
	if response.CNICode >= 100 {
		return nil, types.NewError(response.CNICode, response.Error, "")
	}
	if status != expected || (err != nil && expected == 200) {
		return nil, rpcFailed("%s return %d %s", operation, status, response.Error)
	}
	return response, nil
}

// maxErrorText is how many bytes of a response a CNI error may contain.
const maxErrorText = 2048

func truncate(text string) string {
	if len(text) <= maxErrorText {
		return text
	}
	return strings.ToValidUTF8(text[:maxErrorText], "") + "…"
}

// rpcFailed makes an error with CNI code 11, for which the runtime retries.
func rpcFailed(format string, values ...any) error {
	return types.NewError(types.ErrTryAgainLater, "RPC failed", fmt.Sprintf(format, values...))
}
