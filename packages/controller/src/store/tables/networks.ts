import type { MacOverride, MacPolicy, TunnelType } from '@rushhour/contract';
import { type Column, flag, integer, json, maybeInteger, text } from '../engine/column.ts';

export const macs = {
  id: integer,
  name: text,
  kind: text as Column<'address' | 'range' | 'oui', string>,
  address: text,
  count: integer,
  vendor: text,
  description: text,
  tags: text,
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

export const networks = {
  id: integer,
  name: text,
  type: integer,
  ipVersion: text,
  subnet: text,
  /** First and last address of the subnet as 32 hexadecimal digits, so that ranges compare as texts. */
  firstAddress: text,
  lastAddress: text,
  gateway: text,
  gatewayMac: text,
  gatewayMacId: maybeInteger,
  gatewayMacMode: text as Column<'arp' | 'static' | 'mac', string>,
  excludes: json<string[]>([]),
  pattern: text,
  ports: text,
  spoofing: flag,
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

/** One row for each network, by the network's id: thousands of overrides stay out of the lists. */
export const networkPolicies = {
  id: integer,
  macPolicy: json<MacPolicy | null>(null),
  macOverrides: json<MacOverride[]>([]),
  l2PolicyVersion: integer,
};

export const tunnels = {
  id: integer,
  name: text,
  type: text as Column<TunnelType, string>,
  description: text,
  clientIp: text,
  serverIp: text,
  endpoints: text,
  count: integer,
  mtu: integer,
  params: json<Record<string, unknown>>({}),
  /** The secret members of `params`, sealed together; empty when there are none. */
  secrets: text,
  certificateID: maybeInteger,
  tags: text,
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};
