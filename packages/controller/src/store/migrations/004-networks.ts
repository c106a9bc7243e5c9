import { createTable, createUnique, type Migrating } from './create-table.ts';

/** Networks with their MAC policies, MAC records, tunnels. */
export const networks = async (m: Migrating) => {
  const stamps = { issuerID: 'integer?', createdAt: 'text', updatedAt: 'text' };

  await createTable(m, 'macs', {
    id: 'id',
    name: 'text',
    kind: 'text',
    address: 'text',
    count: 'integer',
    vendor: 'text',
    description: 'text',
    tags: 'text',
    ...stamps,
  });
  await createUnique(m, 'macs', 'name');
  await m.raw('CREATE UNIQUE INDEX "macs_address_unique" ON "macs" ("kind", "address")');

  await createTable(m, 'networks', {
    id: 'id',
    name: 'text',
    type: 'integer',
    ipVersion: 'text',
    subnet: 'text',
    firstAddress: 'text',
    lastAddress: 'text',
    gateway: 'text',
    gatewayMac: 'text',
    gatewayMacId: 'integer?',
    gatewayMacMode: 'text',
    excludes: 'text',
    pattern: 'text',
    ports: 'text',
    spoofing: 'integer',
    ...stamps,
  });
  await createUnique(m, 'networks', 'name');
  await createTable(m, 'networkPolicies', {
    id: 'integer!',
    macPolicy: 'text?',
    macOverrides: 'text',
    l2PolicyVersion: 'integer',
  });

  await createTable(m, 'tunnels', {
    id: 'id',
    name: 'text',
    type: 'text',
    description: 'text',
    clientIp: 'text',
    serverIp: 'text',
    endpoints: 'text',
    count: 'integer',
    mtu: 'integer',
    params: 'text',
    secrets: 'text',
    certificateID: 'integer?',
    tags: 'text',
    ...stamps,
  });
  await createUnique(m, 'tunnels', 'name');
};
