import { isReservedHost } from '../expressions/foreign-hosts.ts';
import { categoryOf } from './category.ts';
import { literal, nameOf, tagsOf } from './members.ts';
import { readRawRequest } from './raw-request.ts';
import { refusing, type TemplateFile, type TemplateOutcome } from './template.ts';

/** One request a file; names that end with .white are harmless ones. */
export const readHttpRaw = ({ path, bytes }: TemplateFile): TemplateOutcome[] => [
  refusing(path, () => {
    const isBenign = /\.white$/i.test(path);
    const warnings: string[] = [];
    const request = readRawRequest(literal(bytes.toString('latin1')), 0);
    const headers = (request.headers ?? []).filter(({ name, value }) => {
      const isForeign = name.toLowerCase() === 'host' && !isReservedHost(value.trim());
      if (isForeign) warnings.push(`the host ${value.slice(0, 60)} is replaced by that of the server`);
      return !isForeign;
    });
    const { body } = request;
    const folder = path.split('/').at(-2) ?? '';
    return {
      templateId: path,
      source: 'http-raw',
      sourceRef: path.slice(-250),
      warnings,
      draft: {
        name: nameOf(path, 'request'),
        severity: isBenign ? 'info' : 'unknown',
        category: isBenign ? 'other' : categoryOf(path),
        tags: tagsOf(['http-raw', folder, ...(isBenign ? ['benign'] : [])]),
        expect: { action: isBenign ? 'allow' : 'block' },
        requests: [{ ...request, headers, ...(body !== undefined && bodyOf(bytes)) }],
      },
    };
  }),
];

/** The body is taken as bytes: it need not be text. */
const bodyOf = (bytes: Buffer) => {
  const text = bytes.toString('latin1');
  const end = /\r?\n\r?\n/.exec(text.replace(/^\s+/, (blanks) => '.'.repeat(blanks.length)));
  const from = end === null ? text.length : end.index + end[0].length;
  return { body: bytes.subarray(from).toString('base64'), bodyEncoding: 'base64' as const };
};
