package main

// The frames of the probe: ARP (RFC 826, RFC 5227) and neighbor discovery (RFC 4861, RFC 4862).

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
)

const (
	macBytes  = 6
	etherHead = 14
	arpBytes  = 28
	ipv6Head  = 40
	// A neighbor solicitation and a neighbor advertisement, without options.
	neighborBytes         = 24
	icmpv6                = 58
	neighborSolicitation  = 135
	neighborAdvertisement = 136
	targetLinkAddress     = 2
	// hopLimit proves that no router has forwarded the packet.
	hopLimit = 255
)

// prober makes the probe of an address, and knows its answers.
type prober struct {
	address   netip.Addr
	etherType uint16
	// listens is the multicast group of the answers; nil for none.
	listens net.HardwareAddr
	frame   func(own net.HardwareAddr) []byte
	// answers returns the MAC of the host that uses the address, if the frame shows one.
	answers func(frame []byte) net.HardwareAddr
}

func proberOf(address netip.Addr) prober {
	if address.Is4() {
		return prober{
			address: address, etherType: 0x0806,
			frame:   func(own net.HardwareAddr) []byte { return arpProbe(own, address) },
			answers: func(frame []byte) net.HardwareAddr { return arpSender(frame, address) },
		}
	}
	return prober{
		address: address, etherType: 0x86dd,
		listens: net.HardwareAddr{0x33, 0x33, 0, 0, 0, 1}, // of ff02::1, to which a host answers a solicitation without sender
		frame:   func(own net.HardwareAddr) []byte { return solicitation(own, address) },
		answers: func(frame []byte) net.HardwareAddr { return advertiser(frame, address) },
	}
}

// etherFrame begins a frame.
func etherFrame(to, from net.HardwareAddr, etherType uint16) []byte {
	return binary.BigEndian.AppendUint16(slices.Concat(to, from), etherType)
}

// padded extends a frame to the smallest size of Ethernet.
func padded(frame []byte) []byte {
	const smallest = 60
	return append(frame, make([]byte, max(0, smallest-len(frame)))...)
}

// arpProbe has no sender address, so that no host updates its cache.
func arpProbe(own net.HardwareAddr, address netip.Addr) []byte {
	frame := etherFrame(net.HardwareAddr{255, 255, 255, 255, 255, 255}, own, 0x0806)
	frame = append(frame, 0, 1, 8, 0, macBytes, 4, 0, 1) // Ethernet, IPv4, a request
	frame = append(append(frame, own...), 0, 0, 0, 0)
	frame = append(append(frame, make([]byte, macBytes)...), address.AsSlice()...)
	return padded(frame)
}

// arpSender returns the MAC of a host that sends ARP, a request or a reply, as the address.
func arpSender(frame []byte, address netip.Addr) net.HardwareAddr {
	if len(frame) < etherHead+arpBytes || binary.BigEndian.Uint16(frame[12:]) != 0x0806 {
		return nil
	}
	arp := frame[etherHead:]
	if !slices.Equal(arp[:6], []byte{0, 1, 8, 0, macBytes, 4}) || netip.AddrFrom4([4]byte(arp[14:18])) != address {
		return nil
	}
	return unicast(arp[8:14])
}

// solicitation has no sender address and therefore no link address, as in duplicate address
// detection.
func solicitation(own net.HardwareAddr, address netip.Addr) []byte {
	target := address.As16()
	group := netip.MustParseAddr("ff02::1:ff00:0").As16()
	copy(group[13:], target[13:])
	to := net.HardwareAddr{0x33, 0x33, group[12], group[13], group[14], group[15]}
	frame := etherFrame(to, own, 0x86dd)
	frame = append(frame, 0x60, 0, 0, 0, 0, neighborBytes, icmpv6, hopLimit)
	frame = append(append(frame, make([]byte, 16)...), group[:]...)
	frame = append(frame, neighborSolicitation, 0, 0, 0, 0, 0, 0, 0)
	frame = append(frame, target[:]...)
	binary.BigEndian.PutUint16(frame[etherHead+ipv6Head+2:], checksum(frame[etherHead:]))
	return frame
}

// advertiser returns the MAC of a host that advertises the address: that of the option, else that
// of the frame.
func advertiser(frame []byte, address netip.Addr) net.HardwareAddr {
	if len(frame) < etherHead+ipv6Head+neighborBytes || binary.BigEndian.Uint16(frame[12:]) != 0x86dd {
		return nil
	}
	packet := frame[etherHead:]
	length := int(binary.BigEndian.Uint16(packet[4:]))
	if packet[0]>>4 != 6 || packet[6] != icmpv6 || packet[7] != hopLimit || length < neighborBytes || len(packet) < ipv6Head+length {
		return nil
	}
	packet = packet[:ipv6Head+length]
	message := packet[ipv6Head:]
	if message[0] != neighborAdvertisement || message[1] != 0 || checksum(packet) != 0 ||
		netip.AddrFrom16([16]byte(message[8:24])) != address {
		return nil
	}
	for options := message[neighborBytes:]; len(options) >= 8; {
		size := int(options[1]) * 8
		if size == 0 || size > len(options) {
			return nil // RFC 4861: a node discards the packet
		}
		if options[0] == targetLinkAddress && size == 8 {
			return unicast(options[2:8])
		}
		options = options[size:]
	}
	return unicast(frame[6:12])
}

// checksum returns the ICMPv6 checksum of the packet with its pseudo-header. It is 0 if the packet
// has the right checksum.
func checksum(packet []byte) uint16 {
	message := packet[ipv6Head:]
	sum := uint32(len(message)) + icmpv6
	add := func(bytes []byte) {
		for i, value := range bytes {
			if i%2 == 0 {
				sum += uint32(value) << 8
			} else {
				sum += uint32(value)
			}
		}
	}
	add(packet[8:ipv6Head])
	add(message)
	for sum > 0xffff {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum)
}

// unicast copies a MAC that a host can have; nil for any other MAC.
func unicast(mac []byte) net.HardwareAddr {
	if mac[0]&1 != 0 || slices.Equal(mac, make([]byte, macBytes)) {
		return nil
	}
	return slices.Clone(mac)
}
