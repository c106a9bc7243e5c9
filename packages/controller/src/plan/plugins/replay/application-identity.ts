import type { ApplicationValues } from '@rushhour/contract';
import type { ApplicationPlay, PlayedParameter } from '@rushhour/protocol';
import type { PlanApplication } from '../../content/plan-applications.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';

interface Act {
  readonly application: Pick<PlanApplication, 'name' | 'parameters'>;
  readonly play: Pick<ApplicationPlay, 'parameters' | 'sessions' | 'users'>;
}

const turnNames = new Set(['userIndex', 'iteration', 'attemptId']);
const localNames = new Set(['clientIp', 'clientPort', 'serverIp', 'serverPort', 'nowUnix', 'nowIso']);

/** Its values differ between users or iterations. */
const isVarying = ({ source, defaultValue, allowedValues }: PlayedParameter): boolean => {
  if (source === 'system') return turnNames.has(defaultValue);
  if (source === 'list') return allowedValues.length > 1;
  return source === 'counter' || source === 'random' || source === 'dictionary';
};

/** How a server knows whose session it is: a proxy leaves neither ports nor sequence numbers as they were. */
export const tellIdentity = (scope: PlanScope, acts: readonly Act[]): void => {
  const { applicationParams: params, clientPortRange } = scope.leaf.values as unknown as ApplicationValues;
  const path = pointerIn(scope, 'applicationParams', 'portMode');
  scope.issues.info(path, 'SESSION_KNOWN_BY', `sessions are told apart ${wayOf(params, acts)}`);
  acts.forEach(({ application, play }) => {
    const at = params.applications.findIndex(
      ({ applicationId }) => scope.input.applications.byId.get(applicationId) === application,
    );
    const place = pointerIn(scope, 'applicationParams', 'applications', at);
    const session =
      params.portMode === 'perSlot' || play.users === 1 ? undefined : unknownSession(application, play, params.match);
    if (session !== undefined) {
      const message = `in session ${session} the server must say what differs by user before it can know the user: say portMode perSlot`;
      scope.issues.error(place, 'SESSION_AMBIGUOUS', message);
    }
    tellLocal(scope, play, { place, isHttp: params.match === 'http', hasPorts: clientPortRange !== undefined });
  });
};

const wayOf = ({ portMode, match }: ApplicationValues['applicationParams'], acts: readonly Act[]): string => {
  if (portMode === 'perSlot') return 'by the port that each user has for itself, and by the order of arrival';
  if (match === 'http') return 'by method, target and body of each request';
  return acts.some(({ play }) => play.parameters.some(isVarying))
    ? 'by what differs between users and iterations in the steps of the client, and by the order of arrival'
    : 'by the bytes of the first step and by the order of arrival';
};

/** A session in which the server speaks of what only the user decides, before that user has shown who it is. */
const unknownSession = (
  application: Act['application'],
  play: Act['play'],
  match: ApplicationValues['applicationParams']['match'],
): number | undefined => {
  const varying = application.parameters.filter((_, index) => isVarying(play.parameters[index] as PlayedParameter));
  const places = varying.flatMap(({ stepsMappings }) => stepsMappings);
  const isKnown = (sessionIdx: number, stepIdx: number) =>
    places.some(
      (place) =>
        place.side === 'client' &&
        place.sessionIdx === sessionIdx &&
        (match === 'http' ? place.stepIdx === stepIdx - 1 : place.stepIdx < stepIdx),
    );
  return places.find(
    ({ side, sessionIdx, stepIdx }) =>
      side === 'server' &&
      play.sessions.some(({ sessionIndex }) => sessionIndex === sessionIdx) &&
      !isKnown(sessionIdx, stepIdx),
  )?.sessionIdx;
};

const tellLocal = (
  scope: PlanScope,
  { parameters }: Act['play'],
  { place, isHttp, hasPorts }: { place: string; isHttp: boolean; hasPorts: boolean },
): void => {
  for (const { name, source, defaultValue } of parameters) {
    if (source !== 'system') continue;
    if (isHttp && localNames.has(defaultValue)) {
      const message = `parameter ${name}: ${defaultValue} is known to one end only, which match http cannot judge`;
      scope.issues.error(place, 'NOT_SUPPORTED', message);
    }
    if (defaultValue === 'clientPort' && !hasPorts) {
      const message = `parameter ${name}: the port of the client is known beforehand only with clientPortRange`;
      scope.issues.error(place, 'NOT_SUPPORTED', message);
    }
  }
};
