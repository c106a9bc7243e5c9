import type { DnsValues } from '@rushhour/contract';
import type { DnsServerConfig } from '@rushhour/protocol';

type DnsType = DnsValues['dnsParams']['types'][number];

/** From the ranges and names that are set aside for examples. */
const exampleData: Readonly<Record<Exclude<DnsType, 'ANY'>, string>> = {
  A: '192.0.2.1',
  AAAA: '2001:db8::1',
  CNAME: 'alias.example.test',
  MX: '10 mail.example.test',
  NS: 'ns.example.test',
  PTR: 'host.example.test',
  SOA: 'ns.example.test admin.example.test 1 3600 600 86400 60',
  SRV: '10 10 443 host.example.test',
  TXT: 'example',
};
const ttl = 60;

/** An answer of every type that is asked for, to every name that is asked: none of them is NXDOMAIN. */
export const knownAnswers = (
  names: readonly string[],
  { types, randomPrefix }: Pick<DnsValues['dnsParams'], 'types' | 'randomPrefix'>,
): DnsServerConfig['answers'] => {
  const answered = new Set(types.map((type) => (type === 'ANY' ? 'A' : type)));
  return [...new Set(names)].flatMap((name) =>
    [...answered].map((type) => ({ name: randomPrefix ? `*.${name}` : name, type, ttl, data: exampleData[type] })),
  );
};
