package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containernetworking/cni/pkg/types"
)

type route struct {
	Destination string `json:"dst,omitempty"`
	Gateway     string `json:"gw,omitempty"`
}

// device is passed on as configured, for NICs of Kube-OVN's own kind.
type device struct {
	DeviceID                   string `json:"deviceID"`
	VhostUserSocketVolumeName  string `json:"vhost_user_socket_volume_name"`
	VhostUserSocketName        string `json:"vhost_user_socket_name"`
	VhostUserSocketConsumption string `json:"vhost_user_socket_consumption"`
}

// cniRequest is Kube-OVN's wire format, in its order of fields.
type cniRequest struct {
	CniType      string    `json:"cni_type"`
	PodName      string    `json:"pod_name"`
	PodNamespace string    `json:"pod_namespace"`
	ContainerID  string    `json:"container_id"`
	NetNs        string    `json:"net_ns"`
	IfName       string    `json:"if_name"`
	Provider     string    `json:"provider"`
	Routes       []route   `json:"routes"`
	DNS          types.DNS `json:"dns"`
	VfDriver     string    `json:"vf_driver"`
	device
	PodUID string `json:"pod_uid,omitempty"` // our own
}

// cniResponse is both shapes of Kube-OVN's answer: `ips`, and the flat comma-joined fields of the time before v1.16.
type cniResponse struct {
	IPs                    []address
	Address, CIDR, Gateway string
	MacAddress             string `json:"mac_address"`
	Routes                 []route
	MTU                    int
	NicName, Error         string
	CNICode                uint `json:"cni_code"` // our own: from 100, the code of an error that no later try can heal
}

type address struct{ IP, CIDR, Gateway string } // only read, and names in JSON match in any case

// post is one HTTP exchange. By hand, because net/http makes the program 6.5 MB instead of 3.1 and slower to start, and it
// runs for every interface of every Pod. As HTTP/1.0, whose answers are never chunked and end with the connection.
func post(socket, path string, request any, timeout time.Duration) (status int, body []byte, err error) {
	connection, err := dial(socket)
	for deadline := time.Now().Add(2 * time.Second); isAway(err) && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond) // an agent that is being replaced is back within two seconds
		connection, err = dial(socket)
	}
	if isAway(err) {
		return 0, nil, fmt.Errorf("%w: is the node agent running?", err)
	}
	if err != nil {
		return 0, nil, err
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(timeout))
	content, _ := json.Marshal(request)
	fmt.Fprintf(connection, "POST %s HTTP/1.0\r\nHost: dummy\r\nContent-Type: application/json\r\n"+
		"Accept: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(content), content)
	answer, err := io.ReadAll(io.LimitReader(connection, 1<<20))
	head, body, _ := bytes.Cut(answer, []byte("\r\n\r\n"))
	if _, failed := fmt.Sscanf(string(head), "HTTP/%s %d", new(string), &status); failed != nil {
		return 0, nil, fmt.Errorf("no HTTP answer: %q: %w", head, cmp.Or(err, io.EOF))
	}
	return status, body, err
}

// understand reads what the agent says: an answer if the status is the wanted one, else why there is none.
func understand(what string, status, wanted int, body []byte) (*cniResponse, error) {
	response := &cniResponse{Error: shortened(string(body))} // shown as it is, if it is no JSON
	err := json.Unmarshal(body, response)
	response.Error = shortened(response.Error)
	if response.CNICode >= 100 {
		return nil, types.NewError(response.CNICode, response.Error, "")
	}
	if status != wanted || (err != nil && wanted == 200) {
		return nil, rpcFailed("%s return %d %s", what, status, response.Error)
	}
	return response, nil
}

// mostShown limits the part of an agent's answer that becomes the text of a CNI error.
const mostShown = 2048

func shortened(text string) string {
	if len(text) <= mostShown {
		return text
	}
	return strings.ToValidUTF8(text[:mostShown], "") + "…"
}

// rpcFailed carries CNI code 11, try again later.
func rpcFailed(format string, values ...any) error {
	return types.NewError(types.ErrTryAgainLater, "RPC failed", fmt.Sprintf(format, values...))
}
