import type { Client } from '@rushhour/client';
import { smallCapture } from '../packages/controller/src/assets/files/testing/captures.ts';

/** Records of every kind, as in a small lab: for screenshots and for tests that visit all pages. */
export const fillWithDemoData = async (client: Client) => {
  const { data: project } = await client.projects.create({ body: { name: 'Edge firewall 4.2' } });
  await client.projects.create({ body: { name: 'Branch VPN gateway' } });
  const { data: macId } = await client.macs.create({
    body: { name: 'Lab hosts', kind: 'range', address: '02:1a:4c:00:00:01', count: 4096, tags: 'lab' },
  });
  const networks = await makeNetworks(client, macId);
  await client.tunnels.create({
    body: { name: 'Head office', type: 'gre', endpoints: '10.0.0.1-10.0.0.50 > 10.9.0.1', tags: 'vpn' },
  });
  const certificates = await makeCertificates(client);
  const { data: dictionary } = await client.dictionaries.create({
    body: { name: 'Search words', type: 'list', values: ['lamp', 'chair', 'table', 'shelf', 'rug'], tags: 'shop' },
  });
  const { capture, application } = await makeApplication(client);
  const { data: payload } = await client.files.create({
    upload: {
      fields: { category: 'csv', tags: 'users' },
      file: new Blob(['user,password\nada,first\ngrace,second\nalan,third\n']),
      filename: 'users.csv',
    },
  });
  return { project, networks, certificates, dictionary, capture, application, payload };
};

const makeNetworks = async (client: Client, macId: number) => {
  const drafts = [
    {
      name: 'Clients',
      subnet: '10.20.0.0/16',
      gateway: '10.20.0.1',
      type: 1,
      macPolicy: { mode: 'pool', macIds: [macId] },
    },
    { name: 'Servers', subnet: '10.30.0.0/24', gateway: '10.30.0.1', type: 2 },
    { name: 'Clients, IPv6', subnet: '2001:db8:20::/64', macPolicy: { mode: 'derived', prefix: '02:1a' } },
  ] as const;
  const ids: number[] = [];
  for (const body of drafts) ids.push((await client.networks.create({ body: body as never })).data);
  return ids;
};

const makeCertificates = async (client: Client) => {
  const { data: authority } = await client.certificates.create({
    body: { name: 'Lab root', generate: { kind: 'ca', subject: 'CN=Lab root,O=Example' } },
  });
  const { data: leaf } = await client.certificates.create({
    body: {
      name: 'shop.example.test',
      generate: { kind: 'leaf', issuerCertificateID: authority, san: ['shop.example.test', '*.shop.example.test'] },
    },
  });
  const { data: expired } = await client.certificates.create({
    body: {
      name: 'Expired on purpose',
      generate: { kind: 'leaf', issuerCertificateID: authority, san: ['old.example.test'], defect: 'expired' },
    },
  });
  return { authority, leaf, expired };
};

const makeApplication = async (client: Client) => {
  const { data: capture } = await client.files.create({
    upload: {
      fields: { category: 'pcap', tags: 'shop,http' },
      file: new Blob([smallCapture('shop.example.test')]),
      filename: 'shop-cart.pcap',
    },
  });
  const { data: application } = await client.applications.create({
    body: {
      name: 'Shop: open the cart',
      pcapFileId: capture,
      tags: 'shop',
      parameters: [
        {
          name: 'path',
          source: 'list',
          allowedValues: ['/cart', '/desk', '/lamp'],
          stepsMappings: [{ sessionIdx: 0, stepIdx: 0, side: 'client', offset: 4, length: 5 }],
        },
      ],
    },
  });
  return { capture, application };
};
