export const LINK_NULL = 0;
export const LINK_ETHERNET = 1;
export const LINK_PPP = 9;
export const LINK_RAW_BSD = 12;
export const LINK_PPP_HDLC = 50;
export const LINK_RAW = 101;
export const LINK_C_HDLC = 104;
export const LINK_LOOP = 108;
export const LINK_SLL = 113;
export const LINK_IPV4 = 228;
export const LINK_IPV6 = 229;
export const LINK_SLL2 = 276;

const NAMES = new Map([
  [LINK_NULL, 'NULL'],
  [LINK_ETHERNET, 'EN10MB'],
  [6, 'IEEE802'],
  [8, 'SLIP'],
  [LINK_PPP, 'PPP'],
  [10, 'FDDI'],
  [LINK_RAW_BSD, 'RAW'],
  [LINK_PPP_HDLC, 'PPP_SERIAL'],
  [51, 'PPP_ETHER'],
  [LINK_RAW, 'RAW'],
  [LINK_C_HDLC, 'C_HDLC'],
  [105, 'IEEE802_11'],
  [107, 'FRELAY'],
  [LINK_LOOP, 'LOOP'],
  [LINK_SLL, 'LINUX_SLL'],
  [119, 'PRISM_HEADER'],
  [127, 'IEEE802_11_RADIO'],
  [147, 'USER0'],
  [163, 'IEEE802_11_RADIO_AVS'],
  [187, 'BLUETOOTH_HCI_H4'],
  [189, 'USB_LINUX'],
  [192, 'PPI'],
  [195, 'IEEE802_15_4'],
  [220, 'USB_LINUX_MMAPPED'],
  [LINK_IPV4, 'IPV4'],
  [LINK_IPV6, 'IPV6'],
  [239, 'NFLOG'],
  [249, 'USBPCAP'],
  [253, 'NETLINK'],
  [LINK_SLL2, 'LINUX_SLL2'],
]);

/** The name tcpdump gives a link type. */
export function linkTypeName(id: number): string {
  return NAMES.get(id) ?? `LINKTYPE_${id}`;
}
