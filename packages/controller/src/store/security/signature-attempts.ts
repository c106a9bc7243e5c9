import { sql } from 'kysely';

/**
 * Whether an attempt was made from this signature: replayed, played whole by a test of a web application firewall, or
 * harmless because it is expected to pass. The other attempts of such tests may name dictionaries by the same number.
 */
export const isOfSignature = (id: unknown, column: (name: string) => string = (name) => name) => {
  const at = (name: string) => sql.ref(column(name));
  return sql<boolean>`(${at('refID')} = ${id} and (${at('kind')} = 'cve'
    or (${at('kind')} = 'waf' and ${at('variant')} like 'plain/signature%')
    or (${at('kind')} = 'benign' and ${at('category')} <> 'dictionary')))`;
};
