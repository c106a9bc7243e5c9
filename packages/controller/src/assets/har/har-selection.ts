import type { HarReplayValues } from '@rushhour/contract';
import { RE2JS } from 're2js';
import type { RecordedEntry, Recording } from './har-recording.ts';

export type HarParams = HarReplayValues['harReplayParams'];

/** `*` stands for any part of a name. */
export const isNameLike = (name: string, pattern: string): boolean => {
  const parts = pattern.toLowerCase().split('*');
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  const text = name.toLowerCase();
  if (parts.length === 1) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
};

const staticKinds = /^(image|stylesheet|script|font|media|texttrack|manifest)$/;
const staticTypes = /^(image|font|audio|video)\/|^text\/css|javascript|ecmascript|font-woff|vnd\.ms-fontobject/;

const isStatic = ({ kind, mime }: RecordedEntry): boolean =>
  kind === '' ? staticTypes.test(mime) : staticKinds.test(kind);

/** The entries to play, in order. The URL pattern must be valid. */
export const selectEntries = ({ entries, pages }: Recording, params: HarParams): RecordedEntry[] => {
  const { only, skip, urlRegex, methods, pages: wanted, maxEntries, staticAssets } = params;
  const address = urlRegex === undefined ? undefined : RE2JS.compile(urlRegex);
  const isOneOf = (host: string, patterns: readonly string[]) => patterns.some((pattern) => isNameLike(host, pattern));
  const isPageWanted = ({ page }: RecordedEntry) => wanted.includes(page) || wanted.includes(pages.get(page) ?? page);
  const chosen = entries.filter(
    (entry) =>
      (only.length === 0 || isOneOf(entry.url.hostname, only)) &&
      !isOneOf(entry.url.hostname, skip) &&
      (address === undefined || address.matcher(entry.url.href).find()) &&
      (methods.length === 0 || methods.includes(entry.method)) &&
      (wanted.length === 0 || isPageWanted(entry)) &&
      (staticAssets || !isStatic(entry)),
  );
  return maxEntries === 0 ? chosen : chosen.slice(0, maxEntries);
};
