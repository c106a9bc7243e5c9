export const TCP = 6;
export const UDP = 17;

export const FIN = 0x01;
export const SYN = 0x02;
export const RST = 0x04;
export const PSH = 0x08;
export const ACK = 0x10;

/** A dissected frame, as offsets into `bytes`; one Frame is reused for every packet. */
export class Frame {
  bytes: Uint8Array = new Uint8Array(0);
  /** End offset of the captured bytes. */
  end = 0;
  linkType = 0;
  linkStart = 0;
  isLinkKnown = false;
  etherType = 0;
  networkStart = 0;
  vlanTags = 0;
  /** Length of all tags of an Ethernet frame: VLAN and 802.1BR. */
  tagBytes = 0;

  /** 4, 6, or 0 when the frame carries no readable IP. */
  ipVersion = 0;
  source = 0;
  destination = 0;
  protocol = 0;
  /** An extension header that may name further addresses. */
  hasAddressesInside = false;
  isFragment = false;
  fragmentId = 0;
  fragmentOffset = 0;
  hasMoreFragments = false;

  /** Offset and true length of the IP payload; `captured` bytes of it are in the file. */
  transportStart = 0;
  transportLength = 0;
  captured = 0;

  /** TCP or UDP whose ports could be read. */
  hasPorts = false;
  sourcePort = 0;
  destinationPort = 0;
  sequence = 0;
  acknowledgement = 0;
  flags = 0;
  window = 0;
  payloadStart = 0;
  payloadLength = 0;
  payloadCaptured = 0;
}

export function addressBytesOf(frame: Frame): 4 | 16 {
  return frame.ipVersion === 4 ? 4 : 16;
}
