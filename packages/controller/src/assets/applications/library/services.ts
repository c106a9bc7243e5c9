import { ber, hex, noise, u8, zeros } from './bytes.ts';
import { field } from './field.ts';
import { host, json, path, request, response } from './http-messages.ts';
import { type LibraryApplication, tcp } from './script.ts';

const web = tcp(80);
const token = field('token', 'c2Vzc2lvbi10b2tlbg', 'Bearer token of the user');
const bearer = { headers: [['Authorization: Bearer ', token]] };

/** Calls of a JSON API: method, target, body of the request, and the answer. */
type Call = readonly [string, string, unknown, unknown];
const calls = (name: string, list: readonly Call[]): LibraryApplication['steps'] =>
  list.flatMap(([method, target, body, answer]) => [
    web.client(request(method, target, host(name), { ...bearer, ...(body === undefined ? {} : json(body)) })),
    web.server(response('200 OK', json(answer))),
  ]);
const api = (name: string, description: string, tags: string, steps: LibraryApplication['steps']) => ({
  ...{ name, description, tags: `library,saas,${tags}`, recognisedAs: 'json', steps },
});

const people = Array.from({ length: 40 }, (_, id) => ({
  id,
  name: `Person ${id}`,
  city: 'Bern',
  phone: `+41 31 ${id}`,
}));

export const restApi: LibraryApplication = api(
  ...['REST API', 'Lists, reads, changes and deletes a record of a JSON API.', 'api'],
  calls('api.test', [
    ['GET', '/v1/people?count=40', undefined, people],
    ['GET', '/v1/people/7', undefined, people[7]],
    ['PUT', '/v1/people/7', { ...people[7], city: 'Basel' }, { ok: true }],
    ['DELETE', '/v1/people/9', undefined, { ok: true }],
  ]),
);
export const graphQl: LibraryApplication = api(
  ...['GraphQL API', 'A query and a mutation of a GraphQL API.', 'api'],
  calls('graph.test', [
    ['POST', '/graphql', { query: 'query { people(first: 40) { id name city } }' }, { data: { people } }],
    ['POST', '/graphql', { query: 'mutation { rename(id: 7, name: "Ada") { id } }' }, { data: { rename: { id: 7 } } }],
  ]),
);
export const jsonRpc: LibraryApplication = api(
  ...['JSON-RPC service', 'Two calls of JSON-RPC 2.0.', 'api'],
  calls('rpc.test', [
    ['POST', '/rpc', { jsonrpc: '2.0', id: 1, method: 'stock', params: [12] }, { jsonrpc: '2.0', id: 1, result: 5 }],
    [
      'POST',
      '/rpc',
      { jsonrpc: '2.0', id: 2, method: 'order', params: [12, 1] },
      { jsonrpc: '2.0', id: 2, result: 'ok' },
    ],
  ]),
);
export const customerRecords: LibraryApplication = api(
  ...['Customer records (SaaS)', 'A sales person looks up a customer and logs a call.', 'crm'],
  calls('crm.test', [
    ['GET', '/services/query?name=Person', undefined, { totalSize: 40, records: people }],
    ['GET', '/services/accounts/7', undefined, { ...people[7], orders: people.slice(0, 12) }],
    ['POST', '/services/activities', { account: 7, kind: 'call', minutes: 12 }, { id: 900, success: true }],
  ]),
);
export const officeDocuments: LibraryApplication = api(
  ...['Office documents (SaaS)', 'A document is opened and edited together, in many small changes.', 'office'],
  calls('office.test', [
    ['GET', '/documents/31', undefined, { id: 31, blocks: people }],
    ...Array.from(
      { length: 8 },
      (_, at): Call => [
        ...([
          'POST',
          '/documents/31/changes',
          { revision: at, insert: { at: at * 3, text: 'abc' } },
          { revision: at + 1 },
        ] as const),
      ],
    ),
  ]),
);
export const teamChat: LibraryApplication = api(
  ...['Team chat (SaaS)', 'Channels are listed, messages read and written.', 'chat'],
  calls('chat.test', [
    ['GET', '/api/channels', undefined, { channels: people.slice(0, 10) }],
    ['GET', '/api/channels/3/messages?limit=40', undefined, { messages: people }],
    ['POST', '/api/channels/3/messages', { text: 'On my way' }, { ok: true, ts: '1700000000.1' }],
  ]),
);
export const ticketing: LibraryApplication = api(
  ...['Ticket desk (SaaS)', 'Open tickets are listed, one is answered and closed.', 'tickets'],
  calls('desk.test', [
    ['GET', '/api/v2/tickets?status=open', undefined, { tickets: people }],
    ['PUT', '/api/v2/tickets/7', { status: 'solved', comment: 'Works again' }, { ticket: people[7] }],
  ]),
);
export const searchEngine: LibraryApplication = api(
  ...['Search service', 'Documents are indexed and searched.', 'api,database'],
  calls('search.test', [
    ['PUT', '/people/_doc/1', people[1], { result: 'created' }],
    ['POST', '/people/_search', { query: { match: { city: 'Bern' } } }, { hits: { total: 40, hits: people } }],
  ]),
);

const envelope = (body: string) => ({
  type: 'text/xml; charset=utf-8',
  body: [
    `<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`,
  ],
});
export const soapService: LibraryApplication = {
  name: 'SOAP service',
  description: 'A call of a SOAP service with its answer.',
  tags: 'library,saas,api',
  recognisedAs: 'xml',
  steps: [
    web.client(request('POST', path('/stock'), host('soap.test'), envelope('<GetStock><item>12</item></GetStock>'))),
    web.server(response('200 OK', envelope('<GetStockResponse><count>5</count></GetStockResponse>'))),
  ],
};

const depth = {
  headers: ['Depth: 1'],
  type: 'application/xml',
  body: ['<?xml version="1.0"?><propfind xmlns="DAV:"><allprop/></propfind>'],
};
const listing =
  '<?xml version="1.0"?><multistatus xmlns="DAV:"><response><href>/docs/plan.odt</href><propstat><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>';
export const fileSync: LibraryApplication = {
  name: 'File synchronisation (SaaS)',
  description: 'A folder is listed over WebDAV, one file read and one written.',
  tags: 'library,saas,file',
  recognisedAs: 'xml',
  steps: [
    web.client(request('PROPFIND', path('/docs/'), host('files.test'), depth)),
    web.server(response('207 Multi-Status', { type: 'application/xml', body: [listing] })),
    web.client(request('GET', '/docs/plan.odt', host('files.test'))),
    web.server(response('200 OK', { type: 'application/octet-stream', body: [noise(30_000)] })),
    web.client(request('PUT', '/docs/plan.odt', host('files.test'), { body: [noise(30_000, 2)] })),
    web.server(response('204 No Content')),
  ],
};

const certId = [
  ber(0x30, ber(0x06, hex('2b0e03021a')), hex('0500')),
  ber(4, noise(20, 3)),
  ber(4, noise(20, 4)),
  hex('02020765'),
];
const ocspRequest = ber(0x30, ber(0x30, ber(0x30, ber(0x30, ber(0x30, ...certId)))));
const ocspAnswer = ber(0x30, ber(0x0a, u8(3)));
export const certificateStatus: LibraryApplication = {
  name: 'Certificate status (OCSP)',
  description: 'A client asks whether a certificate was revoked; the responder is busy.',
  tags: 'library,web,security',
  recognisedAs: 'ocsp',
  steps: [
    web.client(
      request('POST', path('/ocsp'), host('ocsp.test'), { type: 'application/ocsp-request', body: [ocspRequest] }),
    ),
    web.server(response('200 OK', { type: 'application/ocsp-response', body: [ocspAnswer] })),
  ],
};

const printer = tcp(631);
const ippText = (tag: number, name: string, value: string) => [
  ...[u8(tag, 0, name.length), name, u8(0, value.length), value],
];
const ipp = (code: number) => [
  ...[u8(2, 0), u8(0, code), hex('00000001'), u8(1), ippText(0x47, 'attributes-charset', 'utf-8')],
  ...[ippText(0x48, 'attributes-natural-language', 'en'), ippText(0x45, 'printer-uri', 'ipp://printer.test/ipp')],
];
export const printing: LibraryApplication = {
  name: 'Print job (IPP)',
  description: 'A document of 20 KB is printed.',
  tags: 'library,office',
  recognisedAs: 'ipp',
  steps: [
    printer.client(
      request('POST', path('/ipp/print'), host('printer.test'), {
        type: 'application/ipp',
        body: [ipp(2), u8(3), noise(20_000)],
      }),
    ),
    printer.server(response('200 OK', { type: 'application/ipp', body: [ipp(0), u8(3), zeros(0)] })),
  ],
};
