import { type Static, type TSchema, Type } from 'typebox';
import { ListQuery } from '../../envelopes.ts';
import { Timestamp } from '../../scalars.ts';
import { OneOf, optional, StrictObject } from '../../schema.ts';
import {
  safeties,
  severities,
  signatureCategories,
  signatureDirections,
  signatureProtocols,
  signatureSources,
} from './signature.ts';

const many = <T extends TSchema>(item: T, description: string) => optional.array(item, { maxItems: 100, description });
const words = (description: string) => many(Type.String({ minLength: 1, maxLength: 128 }), description);
const score = (maximum: number, description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum, description }));

/** Filters of the catalogue. A repeated filter matches any of its values; `tag` must match all. */
export const cveFilters = {
  cve: many(Type.String({ pattern: '^[Cc][Vv][Ee]-[0-9-]{0,24}$' }), 'CVE id, or how it begins'),
  severity: many(OneOf(severities), 'Has this severity'),
  severityNot: many(OneOf(severities), 'Has another severity'),
  cwe: many(Type.String({ pattern: '^[Cc][Ww][Ee]-\\d{1,9}$' }), 'CWE id'),
  vendor: words('Vendor'),
  product: words('Product'),
  protocol: many(OneOf(signatureProtocols), 'Protocol'),
  direction: many(OneOf(signatureDirections), 'Direction'),
  category: many(OneOf(signatureCategories), 'Category'),
  tag: words('Has this tag'),
  tagNot: words('Does not have this tag'),
  year: many(Type.Integer({ minimum: 1990, maximum: 2200 }), 'Year'),
  cvssMin: score(10, 'CVSS score of at least'),
  cvssMax: score(10, 'CVSS score of at most'),
  epssMin: score(1, 'EPSS score of at least'),
  kev: optional.flag('Known to be exploited'),
  technique: many(Type.String({ pattern: '^T\\d{4}(\\.\\d{3})?$' }), 'ATT&CK technique, with its sub-techniques'),
  safety: many(OneOf(safeties), 'Safety'),
  source: many(OneOf(signatureSources), 'Where it comes from'),
  enabled: optional.flag('May be run'),
};

const CveFilter = Type.Object({ ...cveFilters, search: optional.text(200) });
export type CveFilter = Static<typeof CveFilter>;

/** Signature filter of a task: the query of `GET /cve` without paging. */
export const CveSmartFilter = StrictObject(CveFilter.properties);

export const CveQuery = ListQuery(
  ['id', 'name', 'severity', 'cvssScore', 'epssScore', 'year', 'updatedAt'],
  cveFilters,
);

export const cveGroupings = ['severity', 'protocol', 'category', 'year', 'product', 'device', 'month'] as const;

export const CveStatsQuery = Type.Object({
  ...CveFilter.properties,
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
  groupBy: optional.oneOf(cveGroupings, { description: 'What outcomes are grouped by' }),
});
export type CveStatsQuery = Static<typeof CveStatsQuery>;
