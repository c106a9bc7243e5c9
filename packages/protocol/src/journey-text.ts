/** A text with variables: `texts` has one element more than `names`. */
export interface JourneyTemplate {
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

const placeholder = /\{\{\s*(\$?[A-Za-z][A-Za-z0-9_]*(?:\.[^{}]*[^{}\s])?)\s*\}\}/u;

/** Variables that every user has. */
export const journeySystemValues = ['$user', '$iteration', '$timestamp', '$uuid', '$random'] as const;
export type JourneySystemValue = (typeof journeySystemValues)[number];

/** Splits `/items/{{item.id}}?u={{$user}}` at its variables. */
export const journeyTemplateOf = (text: string): JourneyTemplate => {
  const parts = text.split(placeholder);
  return {
    texts: parts.filter((_, index) => index % 2 === 0),
    names: parts.filter((_, index) => index % 2 === 1),
  };
};

const statusPart = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/;

/** Statuses such as `200,300-399`; undefined when invalid. */
export const findStatuses = (text: string): ReadonlySet<number> | undefined => {
  const statuses = new Set<number>();
  for (const part of text.split(',')) {
    const [, from, to = from] = statusPart.exec(part.trim()) ?? [];
    if (from === undefined || Number(to) < Number(from)) return undefined;
    for (let status = Number(from); status <= Number(to); status++) statuses.add(status);
  }
  return statuses;
};
