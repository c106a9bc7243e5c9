/** What the attacks of a module exploit: CWE, and categories of the OWASP Top 10 (2021) and the API Security Top 10 (2023). */
export interface Weakness {
  readonly cweIDs: readonly string[];
  readonly owasp: readonly string[];
}

const weakness = (cweIDs: string, owasp: string): Weakness => ({
  cweIDs: cweIDs.split(' ').map((number) => `CWE-${number}`),
  owasp: owasp.split(' '),
});

/** Payloads of several kinds in the messages of interfaces, as they come from users and from other services. */
const mixed = weakness('20 22 78 79 89', 'A03:2021 API10:2023');

const byModule: Readonly<Record<string, Weakness>> = {
  'sql-injection': weakness('89', 'A03:2021'),
  xss: weakness('79', 'A03:2021'),
  rce: weakness('94 1395', 'A03:2021 A06:2021'),
  'command-injection': weakness('78', 'A03:2021'),
  'path-traversal': weakness('22', 'A01:2021'),
  lfi: weakness('98', 'A03:2021'),
  'ldap-injection': weakness('90', 'A03:2021'),
  'nosql-injection': weakness('943', 'A03:2021'),
  crlf: weakness('93 113 117', 'A03:2021 A09:2021'),
  ssti: weakness('1336', 'A03:2021'),
  ssi: weakness('97', 'A03:2021'),
  xxe: weakness('611', 'A05:2021 API8:2023'),
  'xml-injection': weakness('91', 'A03:2021'),
  'mail-injection': weakness('93', 'A03:2021'),
  'user-agent': weakness('799', 'A04:2021 API6:2023'),
  'protocol-anomaly': weakness('20', 'A03:2021'),
  'large-body': weakness('770', 'A04:2021 API4:2023'),
  rest: mixed,
  graphql: mixed,
  soap: mixed,
  grpc: mixed,
  ssrf: weakness('918', 'A10:2021 API7:2023'),
  deserialization: weakness('502', 'A08:2021'),
  'broken-authentication': weakness('287 347', 'A02:2021 A07:2021 API2:2023'),
  'access-control': weakness('285 639', 'A01:2021 API1:2023 API5:2023'),
  'mass-assignment': weakness('915', 'A08:2021 API3:2023'),
  'resource-consumption': weakness('400 770', 'A04:2021 API4:2023'),
  'exposed-resources': weakness('538 1059', 'A05:2021 API8:2023 API9:2023'),
};

/** Undefined for modules without payloads of their own. */
export const weaknessOf = (module: string): Weakness | undefined => byModule[module];

/** Where a CWE or a category of the OWASP is described. */
export const referenceOf = (name: string): string => {
  if (name.startsWith('CWE-')) return `https://cwe.mitre.org/data/definitions/${name.slice(4)}.html`;
  return name.startsWith('API')
    ? 'https://owasp.org/API-Security/editions/2023/en/0x11-t10/'
    : 'https://owasp.org/www-project-top-ten/';
};
