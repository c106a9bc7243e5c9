import type { ApplicationValues } from '@rushhour/contract';
import type { ApplicationPlay, PlayedParameter } from '@rushhour/protocol';
import type { PlanApplication } from '../../core/plan-input.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';

interface IdentifiedApplication {
  readonly path: string;
  readonly application: Pick<PlanApplication, 'name' | 'parameters'>;
  readonly play: Pick<ApplicationPlay, 'parameters' | 'sessions' | 'users'>;
}

const perIterationNames = new Set(['userIndex', 'iteration', 'attemptId']);
const localNames = new Set(['clientIp', 'clientPort', 'serverIp', 'serverPort', 'nowUnix', 'nowIso']);

/** Its values differ between users or iterations. */
const isVarying = ({ source, defaultValue, allowedValues }: PlayedParameter): boolean => {
  if (source === 'system') return perIterationNames.has(defaultValue);
  if (source === 'list') return allowedValues.length > 1;
  return source === 'counter' || source === 'random' || source === 'dictionary';
};

/** How a server knows whose session it is: a proxy entries neither ports nor sequence numbers as they were. */
export const reportIdentity = (
  scope: PlanScope,
  { applicationParams: params, clientPortRange }: ApplicationValues,
  applications: readonly IdentifiedApplication[],
): void => {
  const portMode = pointerIn(scope, 'applicationParams', 'portMode');
  scope.issues.info(portMode, 'SESSION_KNOWN_BY', `sessions are distinguished ${matchedBy(params, applications)}`);
  applications.forEach(({ path, application, play }) => {
    const session =
      params.portMode === 'perSlot' || play.users === 1 ? undefined : unknownSession(application, play, params.match);
    if (session !== undefined) {
      const message = `in session ${session} the server must say what differs by user before it can know the user: say portMode perSlot`;
      scope.issues.error(path, 'SESSION_AMBIGUOUS', message);
    }
    reportLocal(scope, play, { path, isHttp: params.match === 'http', hasPorts: clientPortRange !== undefined });
  });
};

const matchedBy = (
  { portMode, match }: ApplicationValues['applicationParams'],
  applications: readonly IdentifiedApplication[],
): string => {
  if (portMode === 'perSlot') return 'by the port that each user has for itself, and by the order of arrival';
  if (match === 'http') return 'by method, target and body of each request';
  return applications.some(({ play }) => play.parameters.some(isVarying))
    ? 'by what differs between users and iterations in the steps of the client, and by the order of arrival'
    : 'by the bytes of the first step and by the order of arrival';
};

/** A session in which the server speaks of what only the user decides, before that user has shown who it is. */
const unknownSession = (
  application: IdentifiedApplication['application'],
  play: IdentifiedApplication['play'],
  match: ApplicationValues['applicationParams']['match'],
): number | undefined => {
  const varying = application.parameters.filter((_, index) => isVarying(play.parameters[index] as PlayedParameter));
  const mappings = varying.flatMap(({ stepsMappings }) => stepsMappings);
  const isKnown = (sessionIdx: number, stepIdx: number) =>
    mappings.some(
      (mapping) =>
        mapping.side === 'client' &&
        mapping.sessionIdx === sessionIdx &&
        (match === 'http' ? mapping.stepIdx === stepIdx - 1 : mapping.stepIdx < stepIdx),
    );
  return mappings.find(
    ({ side, sessionIdx, stepIdx }) =>
      side === 'server' &&
      play.sessions.some(({ sessionIndex }) => sessionIndex === sessionIdx) &&
      !isKnown(sessionIdx, stepIdx),
  )?.sessionIdx;
};

const reportLocal = (
  scope: PlanScope,
  { parameters }: IdentifiedApplication['play'],
  { path, isHttp, hasPorts }: { path: string; isHttp: boolean; hasPorts: boolean },
): void => {
  for (const { name, source, defaultValue } of parameters) {
    if (source !== 'system') continue;
    if (isHttp && localNames.has(defaultValue)) {
      const message = `parameter ${name}: ${defaultValue} is known to one end only, which match http cannot judge`;
      scope.issues.error(path, 'NOT_SUPPORTED', message);
    }
    if (defaultValue === 'clientPort' && !hasPorts) {
      const message = `parameter ${name}: the port of the client is known beforehand only with clientPortRange`;
      scope.issues.error(path, 'NOT_SUPPORTED', message);
    }
  }
};
