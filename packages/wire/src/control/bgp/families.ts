/** Address families (AFI, SAFI) by the name that profiles use. */
const numbers = {
  'ipv4-unicast': [1, 1],
  'ipv6-unicast': [2, 1],
  'ipv4-labeled': [1, 4],
  'ipv6-labeled': [2, 4],
  'ipv4-multicast': [1, 2],
  'ipv6-multicast': [2, 2],
  vpnv4: [1, 128],
  vpnv6: [2, 128],
  'l2vpn-vpls': [25, 65],
  'l2vpn-evpn': [25, 70],
  'ipv4-flowspec': [1, 133],
  'ipv6-flowspec': [2, 133],
} as const satisfies Record<string, readonly [number, number]>;

export type BgpFamilyName = keyof typeof numbers;

/** How the routes of a family are written. */
export type NlriForm = 'prefix' | 'labeled' | 'vpn' | 'vpls' | 'evpn' | 'flowspec';

export interface BgpFamily {
  readonly name: BgpFamilyName;
  readonly afi: number;
  readonly safi: number;
  readonly form: NlriForm;
  /** Bits of an address of the family. */
  readonly addressBits: number;
}

const forms: Readonly<Record<number, NlriForm>> = {
  1: 'prefix',
  2: 'prefix',
  4: 'labeled',
  65: 'vpls',
  70: 'evpn',
  128: 'vpn',
  133: 'flowspec',
};

const names = Object.keys(numbers) as BgpFamilyName[];

const families: readonly BgpFamily[] = names.map((name) => {
  const [afi, safi] = numbers[name];
  return { name, afi, safi, form: forms[safi] as NlriForm, addressBits: afi === 1 ? 32 : 128 };
});

export const familyOf = (name: BgpFamilyName): BgpFamily => families[names.indexOf(name)] as BgpFamily;

export const findFamily = (afi: number, safi: number): BgpFamily | undefined =>
  families.find((family) => family.afi === afi && family.safi === safi);
