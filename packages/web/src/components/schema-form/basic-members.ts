import { issueWithin, type ObjectSchema } from './schema.ts';

/** Members that most tests set. */
const basic = new Set(
  `sources targets agent network ports interface duration mode seconds rampUpSec warmUpSec requestsPerSecond
  packetsPerSecond sessionsPerSecond ppsPerConnection rpsUnlimited ppsUnlimited connections path
  responseSize frameSize size type names answers rfc2544 modules benign ratePerSecond name maxRequests
  encoders fileId users loop speed applications applicationId signatureIds filter campaignIds hosts protocol baseline
  maxCases malwareFiles delivery direction httpParams tcpParams udpParams dnsParams icmpParams wafModules payload
  pcapReplayParams harReplayParams applicationParams cveReplayParams fuzzingParams compromisedHostParams rocev2Params
  statelessServerParams tlsParams frameSizes tests trialSec enabled sample ipsecTunnelCount ipsecPsk
  ipsecTunnelOpenRatePps ipsecLoadHsRatePps ipsecLoadConcurrentHs convergenceFlows mix journeys steps webSocket grpc call`.split(
    /\s+/,
  ),
);

/** Forms with fewer members show all of them. */
const maxShown = 5;

interface Split {
  readonly shown: readonly string[];
  /** Behind "More settings". */
  readonly folded: readonly string[];
}

/** Basic members, required ones without a default, those with a value, and those with an issue are shown. */
export const splitMembers = (
  schema: ObjectSchema,
  given: ReadonlySet<string>,
  issues: Readonly<Record<string, string>>,
  path: string,
): Split => {
  const names = Object.keys(schema.properties);
  const isShown = (name: string) =>
    basic.has(name) ||
    given.has(name) ||
    (schema.required?.includes(name) === true && schema.properties[name]?.default === undefined) ||
    issueWithin(issues, `${path}/${name}`) !== undefined;
  const folded = names.filter((name) => !isShown(name));
  if (names.length <= maxShown || folded.length === 1 || folded.length === names.length) {
    return { shown: names, folded: [] };
  }
  return { shown: names.filter(isShown), folded };
};
