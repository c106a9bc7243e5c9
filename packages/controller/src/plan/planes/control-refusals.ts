import type { ProtocolConfig } from '@rushhour/contract';

/** Pointer into the profile and why its value cannot be done. */
type Refusal = readonly [pointer: string, message: string];

const asked = (cases: readonly (readonly [boolean, ...Refusal])[]): Refusal[] =>
  cases.flatMap(([isAsked, pointer, message]) => (isAsked ? [[pointer, message] as const] : []));

const ripRefusals = ({ instance, routes, authentication }: ProtocolConfig<'rip'>): Refusal[] => {
  const [isFirst, isNg] = [instance.version === '1', instance.version === 'ng'];
  const hasKey = authentication.kind !== 'none';
  return asked([
    [isFirst && hasKey, '/authentication/kind', 'version 1 has no authentication'],
    [isFirst && routes.tag !== 0, '/routes/tag', 'version 1 has no tags'],
    [isNg && hasKey, '/authentication/kind', 'RIPng has no authentication of its own'],
    [isNg && instance.send === 'broadcast', '/instance/send', 'IPv6 has no broadcast'],
    [isNg && routes.ipv4Count > 0, '/routes/ipv4Count', 'RIPng announces IPv6 prefixes'],
    [!isNg && routes.ipv6Count > 0, '/routes/ipv6Count', 'needs version ng'],
  ]);
};

const refusals: Readonly<Record<string, (config: never) => Refusal[]>> = { rip: ripRefusals };

/** Members of a profile of the control plane that contradict others. */
export const controlRefusals = (protocol: string, config: unknown): readonly Refusal[] =>
  refusals[protocol]?.(config as never) ?? [];
