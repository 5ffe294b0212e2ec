package main

// The probe: whether another host answers on an address that a container is about to use. The agent
// runs it as `kube-ovn probe NETNS INTERFACE ADDRESS…`, after the link exists and before it has an
// address. ARP probes are those of RFC 5227, neighbor solicitations those of RFC 4862: neither
// changes what other hosts know about the address.

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// conflict is an address on which another host answers.
type conflict struct {
	Address string `json:"address"`
	MAC     string `json:"mac"`
}

// probeReport is the output. NotProbed is the reason why no probe was possible, "" if one was.
type probeReport struct {
	Conflict  *conflict `json:"conflict,omitempty"`
	NotProbed string    `json:"not_probed,omitempty"`
}

const (
	// carrierWait is enough for a virtual link. A link without carrier cannot be probed.
	carrierWait     = 300 * time.Millisecond
	carrierInterval = 10 * time.Millisecond
	probeCount      = 3
	probeInterval   = 150 * time.Millisecond
	maxProbed       = 2 // an address of each family
)

// probeCommand runs the probe for the arguments of the command line.
func probeCommand(args []string) error {
	if len(args) < 3 || len(args) > 2+maxProbed {
		return errors.New("usage: probe NETNS INTERFACE ADDRESS…, with one or two addresses")
	}
	var probes []prober
	for _, text := range args[2:] {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" || address.Is4In6() {
			return fmt.Errorf("%q is not an IP address", text)
		}
		probes = append(probes, proberOf(address))
	}
	var report probeReport
	err := inNamespace(args[0], func() (err error) {
		report, err = probeLink(args[1], probes)
		return err
	})
	if err != nil {
		return fmt.Errorf("probe of %v on %s in %s: %w", args[2:], args[1], args[0], err)
	}
	printJSON(report)
	return nil
}

// probeLink sets the link up, and probes all addresses at the same time. It returns the first
// conflict. The link stays up: the plugin sets it up next, and a physical link would lose its
// carrier.
func probeLink(name string, probes []prober) (probeReport, error) {
	link, err := net.InterfaceByName(name)
	if err != nil {
		return probeReport{NotProbed: "there is no such link yet"}, nil
	}
	if len(link.HardwareAddr) != macBytes || link.Flags&(net.FlagLoopback|net.FlagPointToPoint) != 0 {
		return probeReport{NotProbed: "the link has no Ethernet address"}, nil
	}
	if err := setUp(name); err != nil {
		return probeReport{}, fmt.Errorf("setting the link up: %w", err)
	}
	var polled []unix.PollFd
	for i := range probes {
		socket, err := openSocket(link.Index, probes[i])
		if err != nil {
			return probeReport{}, err
		}
		defer unix.Close(socket)
		polled = append(polled, unix.PollFd{Fd: int32(socket), Events: unix.POLLIN})
	}
	carrierUntil := time.Now().Add(carrierWait)
	for range probeCount {
		for i, probe := range probes {
			err := send(int(polled[i].Fd), probe.frame(link.HardwareAddr), linkAddress(link.Index, probe.etherType), carrierUntil)
			if isWithoutCarrier(err) {
				return probeReport{NotProbed: "the link has no carrier"}, nil
			}
			if err != nil {
				return probeReport{}, fmt.Errorf("sending a probe: %w", err)
			}
		}
		if found, err := awaitAnswer(polled, probes, link.HardwareAddr, time.Now().Add(probeInterval)); found != nil || err != nil {
			return probeReport{Conflict: found}, err
		}
	}
	return probeReport{}, nil
}

// awaitAnswer reads frames until a host answers or the time has passed. A flood of other frames
// does not extend the time.
func awaitAnswer(polled []unix.PollFd, probes []prober, own net.HardwareAddr, until time.Time) (*conflict, error) {
	frame := make([]byte, 2048)
	for left := time.Until(until); left > 0; left = time.Until(until) {
		if _, err := unix.Poll(polled, int(left.Milliseconds())+1); err != nil && !errors.Is(err, unix.EINTR) {
			return nil, fmt.Errorf("waiting for an answer: %w", err)
		}
		for i, probe := range probes {
			length, _, err := unix.Recvfrom(int(polled[i].Fd), frame, unix.MSG_DONTWAIT)
			if err != nil {
				continue // nothing to read; a link that went down answers nothing
			}
			if mac := probe.answers(frame[:length]); mac != nil && mac.String() != own.String() {
				return &conflict{probe.address.String(), mac.String()}, nil
			}
		}
	}
	return nil, nil
}

// send sends a frame as soon as the link has a carrier. The flag `running` of a link shows that up
// to a second late.
func send(socket int, frame []byte, to unix.Sockaddr, until time.Time) error {
	for ; ; time.Sleep(carrierInterval) {
		err := unix.Sendto(socket, frame, 0, to)
		if !isWithoutCarrier(err) || time.Now().After(until) {
			return err
		}
	}
}

func isWithoutCarrier(err error) bool {
	return errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.ENETDOWN)
}

// openSocket opens a socket that receives the frames of the probe's protocol from now on.
func openSocket(index int, probe prober) (int, error) {
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(bigEndian(probe.etherType)))
	if err != nil {
		return 0, fmt.Errorf("opening a packet socket (the agent needs the capability NET_RAW): %w", err)
	}
	if err = unix.Bind(socket, linkAddress(index, probe.etherType)); err == nil && probe.listens != nil {
		membership := &unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_MULTICAST, Alen: macBytes}
		copy(membership.Address[:], probe.listens)
		err = unix.SetsockoptPacketMreq(socket, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, membership)
	}
	if err != nil {
		unix.Close(socket)
		return 0, fmt.Errorf("preparing a packet socket: %w", err)
	}
	return socket, nil
}

func linkAddress(index int, etherType uint16) *unix.SockaddrLinklayer {
	return &unix.SockaddrLinklayer{Ifindex: index, Protocol: bigEndian(etherType)}
}

func bigEndian(value uint16) uint16 { return value<<8 | value>>8 }

// setUp sets the link up, unless it is.
func setUp(name string) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(socket, unix.SIOCGIFFLAGS, request); err != nil {
		return err
	}
	if request.Uint16()&unix.IFF_UP != 0 {
		return nil
	}
	request.SetUint16(request.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}
