package main

// The probe on packets, and in real network namespaces with a neighbor that owns addresses (root).

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

var (
	ownMAC      = net.HardwareAddr{2, 0, 0, 0, 0, 1}
	neighborMAC = net.HardwareAddr{2, 0, 0, 0, 0, 9}
	v4, v6      = netip.MustParseAddr("10.9.0.2"), netip.MustParseAddr("fd00:9::abcd:2")
)

func TestArpProbeHasNoSenderAddress(t *testing.T) {
	frame := arpProbe(ownMAC, v4)
	expected := "ffffffffffff" + "020000000001" + "0806" + "0001080006040001" + "020000000001" + "00000000" + "000000000000" + "0a090002"
	if len(frame) != 60 || fmt.Sprintf("%x", frame[:42]) != expected {
		t.Errorf("%x", frame)
	}
}

func TestSolicitationHasNoSenderAddressAndAValidChecksum(t *testing.T) {
	frame := solicitation(ownMAC, v6)
	expected := "3333ffcd0002" + "020000000001" + "86dd" + "6000000000183aff" + strings.Repeat("0", 32) +
		"ff0200000000000000000001ffcd0002" + "8700"
	if len(frame) != 78 || fmt.Sprintf("%x", frame[:56]) != expected || checksum(frame[etherHead:]) != 0 {
		t.Errorf("%x", frame)
	}
}

// arpFrame is an ARP packet of a neighbor; operation 1 is a request, 2 a reply.
func arpFrame(operation byte, mac net.HardwareAddr, sender netip.Addr) []byte {
	frame := arpProbe(mac, v4)
	frame[21] = operation
	copy(frame[28:32], sender.AsSlice())
	return frame
}

func TestArpAnswerIsAPacketWhoseSenderHasTheAddress(t *testing.T) {
	other, group := netip.MustParseAddr("10.9.0.3"), net.HardwareAddr{3, 0, 0, 0, 0, 9}
	for name, c := range map[string]struct {
		frame    []byte
		expected string
	}{
		"a reply":                         {arpFrame(2, neighborMAC, v4), neighborMAC.String()},
		"an announcement":                 {arpFrame(1, neighborMAC, v4), neighborMAC.String()},
		"the reply of another address":    {arpFrame(2, neighborMAC, other), ""},
		"a probe of another host":         {arpFrame(1, neighborMAC, netip.IPv4Unspecified()), ""},
		"a reply with a multicast MAC":    {arpFrame(2, group, v4), ""},
		"a reply without MAC":             {arpFrame(2, make(net.HardwareAddr, 6), v4), ""},
		"a reply that is too short":       {arpFrame(2, neighborMAC, v4)[:41], ""},
		"a frame of another protocol":     {slices.Concat(make([]byte, 12), []byte{8, 0}, arpFrame(2, neighborMAC, v4)[14:]), ""},
		"a reply of another address form": {slices.Concat(arpFrame(2, neighborMAC, v4)[:18], []byte{8}, arpFrame(2, neighborMAC, v4)[19:]), ""},
	} {
		if mac := arpSender(c.frame, v4); mac.String() != c.expected {
			t.Errorf("%s: %q", name, mac)
		}
	}
}

// advertisement is a neighbor advertisement for v6, changed by `change` before its checksum is
// computed.
func advertisement(options []byte, change func(packet []byte)) []byte {
	frame := solicitation(neighborMAC, v6)
	packet := append(frame, options...)[etherHead:]
	binary.BigEndian.PutUint16(packet[4:], uint16(neighborBytes+len(options)))
	packet[ipv6Head] = neighborAdvertisement
	change(packet)
	packet[ipv6Head+2], packet[ipv6Head+3] = 0, 0
	binary.BigEndian.PutUint16(packet[ipv6Head+2:], checksum(packet))
	return slices.Concat(frame[:etherHead], packet)
}

func TestAdvertisementIsAnAnswerForItsTarget(t *testing.T) {
	unchanged := func([]byte) {}
	option := append([]byte{targetLinkAddress, 1}, 2, 0, 0, 0, 0, 7)
	damaged := advertisement(nil, unchanged)
	damaged[len(damaged)-1]++
	for name, c := range map[string]struct {
		frame    []byte
		expected string
	}{
		"with the link address as option":       {advertisement(option, unchanged), "02:00:00:00:00:07"},
		"with another option before it":         {advertisement(append([]byte{14, 1, 0, 0, 0, 0, 0, 0}, option...), unchanged), "02:00:00:00:00:07"},
		"without option":                        {advertisement(nil, unchanged), neighborMAC.String()},
		"with an option of no length":           {advertisement(make([]byte, 8), unchanged), ""},
		"with an option longer than the packet": {advertisement([]byte{targetLinkAddress, 9, 0, 0, 0, 0, 0, 0}, unchanged), ""},
		"of another address":                    {advertisement(nil, func(packet []byte) { packet[ipv6Head+23]++ }), ""},
		"that a router forwarded":               {advertisement(nil, func(packet []byte) { packet[7]-- }), ""},
		"of another type":                       {advertisement(nil, func(packet []byte) { packet[ipv6Head]-- }), ""},
		"longer than its frame":                 {advertisement(nil, func(packet []byte) { packet[5]++ }), ""},
		"with a wrong checksum":                 {damaged, ""},
		"of IPv4":                               {advertisement(nil, func(packet []byte) { packet[0] = 0x45 }), ""},
		"cut off":                               {advertisement(nil, unchanged)[:70], ""},
	} {
		if mac := advertiser(c.frame, v6); mac.String() != c.expected {
			t.Errorf("%s: %q", name, mac)
		}
	}
}

func FuzzProbeAnswer(f *testing.F) {
	f.Add(arpFrame(2, neighborMAC, v4))
	f.Add(advertisement([]byte{targetLinkAddress, 1, 2, 0, 0, 0, 0, 7}, func([]byte) {}))
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, mac := range []net.HardwareAddr{arpSender(frame, v4), advertiser(frame, v6)} {
			if mac != nil && (len(mac) != macBytes || mac[0]&1 != 0) {
				t.Errorf("%x from %x", mac, frame)
			}
		}
	})
}

func runProbe(args ...string) (stdout, stderr string, exitCode int) {
	program := exec.Command(os.Args[0], append([]string{"probe"}, args...)...)
	program.Env = append(os.Environ(), bePlugin+"=1")
	var out, failed strings.Builder
	program.Stdout, program.Stderr = &out, &failed
	program.Run()
	return out.String(), failed.String(), program.ProcessState.ExitCode()
}

func ip(t *testing.T, command string) {
	t.Helper()
	if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v %s", command, err, out)
	}
}

func TestProbeFindsTheNeighborThatOwnsAnAddress(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root for network namespaces")
	}
	own, neighbor := fmt.Sprintf("ipl-own-%d", os.Getpid()), fmt.Sprintf("ipl-nbr-%d", os.Getpid())
	for _, name := range []string{own, neighbor} {
		ip(t, "netns add "+name)
		t.Cleanup(func() { exec.Command("ip", "netns", "del", name).Run() })
	}
	ip(t, "-n "+own+" link add net1 type veth peer name eth0 netns "+neighbor)
	ip(t, "-n "+neighbor+" link set eth0 address "+neighborMAC.String()+" up")
	ip(t, "-n "+neighbor+" addr add 10.9.0.2/24 dev eth0")
	ip(t, "-n "+neighbor+" addr add "+v6.String()+"/64 dev eth0 nodad")
	conflict := func(address string) string {
		return fmt.Sprintf(`{"conflict":{"address":"%s","mac":"%s"}}`, address, neighborMAC)
	}
	netns := "/run/netns/" + own
	for _, c := range []struct {
		name     string
		args     []string
		expected string
	}{
		{"IPv4", []string{"net1", "10.9.0.2"}, conflict("10.9.0.2")},
		{"IPv6", []string{"net1", v6.String()}, conflict(v6.String())},
		{"the second of two", []string{"net1", "10.9.0.3", v6.String()}, conflict(v6.String())},
		{"free addresses", []string{"net1", "10.9.0.3", "fd00:9::3"}, `{}`},
		{"no such link", []string{"net9", "10.9.0.2"}, `{"not_probed":"there is no such link yet"}`},
		{"a link without Ethernet address", []string{"lo", "10.9.0.2"}, `{"not_probed":"the link has no Ethernet address"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, failed, exitCode := runProbe(append([]string{netns}, c.args...)...)
			if strings.TrimSpace(out) != c.expected || exitCode != 0 {
				t.Errorf("exit %d, %s%s", exitCode, out, failed)
			}
		})
	}
	ip(t, "-n "+own+" link set net1 address "+neighborMAC.String())
	if out, failed, _ := runProbe(netns, "net1", "10.9.0.2"); strings.TrimSpace(out) != `{}` {
		t.Errorf("an answer with the link's own MAC: %s%s", out, failed)
	}
	ip(t, "-n "+neighbor+" link set eth0 down")
	if out, failed, _ := runProbe(netns, "net1", "10.9.0.2"); strings.TrimSpace(out) != `{"not_probed":"the link has no carrier"}` {
		t.Errorf("without carrier: %s%s", out, failed)
	}
}

func TestProbeNamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		args     []string
		expected string
	}{
		"no address":           {[]string{"/ns", "net1"}, "usage: probe NETNS INTERFACE ADDRESS…"},
		"three addresses":      {[]string{"/ns", "net1", "10.0.0.1", "10.0.0.2", "10.0.0.3"}, "usage: probe"},
		"an invalid address":   {[]string{"/ns", "net1", "10.0.0"}, `"10.0.0" is not an IP address`},
		"no such namespace":    {[]string{"/nonexistent/ns", "net1", "10.0.0.1"}, "in /nonexistent/ns: no such file or directory"},
		"an address of a link": {[]string{"/ns", "net1", "fe80::1%eth0"}, "is not an IP address"},
	} {
		if _, failed, exitCode := runProbe(c.args...); exitCode != 1 || !strings.Contains(failed, c.expected) {
			t.Errorf("%s: exit %d, %s", name, exitCode, failed)
		}
	}
}
