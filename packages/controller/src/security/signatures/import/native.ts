import { CveDraft } from '@rushhour/contract';
import { createSchemaCheck } from '../../../schema-check.ts';
import { clipped, listOf, type Members, membersOf, requireMembers, textOf } from './members.ts';
import { Refusal, refusing, type TemplateFile, type TemplateOutcome } from './template.ts';

export const nativeSchema = 'rushhour.cve/1';
const maxBytes = 32 * 1_048_576;
const check = createSchemaCheck({ ...CveDraft, additionalProperties: false } as typeof CveDraft, 'first');
const sources = ['user', 'nuclei', 'ftw', 'gotestwaf', 'http-raw', 'pcap', 'builtin'] as const;

/** Signatures in the export format, or a single one. */
export const readNative = ({ path, bytes }: TemplateFile): TemplateOutcome[] => {
  try {
    if (bytes.length > maxBytes) throw new Refusal(`the file has more than ${maxBytes} bytes`);
    const document = requireMembers(JSON.parse(bytes.toString('utf8')), 'the document');
    const signatures = document['signatures'] === undefined ? [document] : listOf(document['signatures']);
    return signatures.map((signature, i) => signatureOf(membersOf(signature), `${path}#${i}`));
  } catch (error) {
    if (error instanceof Refusal) return [{ templateId: path, refused: error.message }];
    if (error instanceof SyntaxError) return [{ templateId: path, refused: 'the file is no JSON' }];
    throw error;
  }
};

const signatureOf = (signature: Members, fallbackRef: string): TemplateOutcome => {
  const sourceRef = clipped(textOf(signature['sourceRef']) || textOf(signature['name']) || fallbackRef, 250);
  return refusing(sourceRef, () => {
    const known = Object.keys(CveDraft.properties);
    const draft = structuredClone(
      Object.fromEntries(Object.entries(signature).filter(([name]) => known.includes(name))),
    );
    const [issue] = check(draft);
    if (issue) throw new Refusal(`${issue.path} ${issue.message}`);
    const source = sources.find((candidate) => candidate === signature['source']) ?? 'user';
    return {
      templateId: sourceRef,
      // Imports never create built-in signatures.
      source: source === 'builtin' ? 'user' : source,
      sourceRef,
      draft: draft as unknown as CveDraft,
      warnings: [],
    };
  });
};
