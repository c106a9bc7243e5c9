import type { SigRequest, SigResponse } from '@rushhour/contract';
import { CaptureAnalyzer, PcapError, type PcapSession } from '@rushhour/pcap';
import { nameOf, tagsOf } from './members.ts';
import { Refusal, refusing, type TemplateFile, type TemplateOutcome } from './template.ts';

const maxSessions = 100;
const maxSteps = 20;
const maxKeptBytes = 32 * 1_048_576;

/**
 * Sessions of a capture, one signature each: the bytes of the client are the request, those of the server the answer.
 */
export const readPcapSessions = ({ path, bytes }: TemplateFile): TemplateOutcome[] => {
  try {
    const analyzer = new CaptureAnalyzer({ steps: true, keepPayload: true, maxKeptBytes, maxSessions });
    analyzer.push(bytes);
    const { sessions } = analyzer.finish().info(0, { steps: true, data: { encoding: 'base64' } });
    if (sessions.length === 0) throw new Refusal('the capture has no TCP or UDP session');
    return sessions.map((session) => refusing(`${path}#${session.sessionIndex}`, () => signatureOf(path, session)));
  } catch (error) {
    if (error instanceof Refusal) return [{ templateId: path, refused: error.message }];
    if (error instanceof PcapError)
      return [{ templateId: path, refused: `the capture cannot be read: ${error.message}` }];
    throw error;
  }
};

const signatureOf = (path: string, session: PcapSession) => {
  if (!session.replayable) throw new Refusal(`the session cannot be replayed: ${session.reasons.join(', ')}`);
  const asked = session.steps.filter(({ side }) => side === 'client');
  if (asked.length === 0) throw new Refusal('the client of the session says nothing');
  if (asked.length > maxSteps) throw new Refusal(`the client of the session speaks more than ${maxSteps} times`);
  const requests = asked.map(
    ({ data }, idx): SigRequest => ({
      idx,
      kind: 'raw',
      transport: session.protocol,
      port: session.dstPort,
      data,
      encoding: 'base64',
      waitResponse: true,
    }),
  );
  const templateId = `${path}#${session.sessionIndex}`;
  return {
    templateId,
    source: 'pcap' as const,
    sourceRef: templateId.slice(-250),
    warnings: [],
    draft: {
      name: nameOf(`${session.name} (${path})`, templateId),
      severity: 'unknown' as const,
      protocol: session.protocol,
      tags: tagsOf(['pcap', session.appProtocol]),
      requests,
      responses: answersOf(session),
    },
  };
};

/** The bytes of the server after each step of the client. */
const answersOf = ({ steps }: PcapSession): SigResponse[] => {
  const responses: Buffer[][] = [];
  for (const { side, data } of steps) {
    if (side === 'client') responses.push([]);
    else responses.at(-1)?.push(Buffer.from(data, 'base64'));
  }
  return responses.flatMap((parts, idx) =>
    parts.length === 0
      ? []
      : [
          {
            idx,
            when: { requestIdx: idx },
            mode: 'canned',
            body: Buffer.concat(parts).toString('base64'),
            bodyEncoding: 'base64',
          },
        ],
  );
};
