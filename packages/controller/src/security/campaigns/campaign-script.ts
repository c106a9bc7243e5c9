import type { CampaignDraft, CampaignStep } from '@rushhour/contract';

type Action = CampaignStep['action'];
type StepDefaults = Pick<CampaignStep, 'tactic' | 'technique' | 'protocol' | 'port' | 'remediation'>;

const watchDns = 'Send all DNS through a resolver that inspects names, lengths and rates; refuse other resolvers.';
const watchWeb = 'Inspect web traffic, with TLS opened where it may be, and refuse destinations without a reputation.';
const refusePorts = 'Let hosts reach only the ports and protocols they need; refuse unknown traffic on known ports.';
const segment = 'Divide the network so that hosts reach only the services they need, and report scans.';

/** Defaults of the actions; a step lists only differences. */
const stepDefaults: Record<Action, StepDefaults> = {
  'dns-query': {
    tactic: 'command-and-control',
    technique: 'T1071.004',
    protocol: 'dns',
    port: 53,
    remediation: watchDns,
  },
  'dga-lookup': {
    tactic: 'command-and-control',
    technique: 'T1568.002',
    protocol: 'dns',
    port: 53,
    remediation: watchDns,
  },
  'dns-tunnel': { tactic: 'command-and-control', technique: 'T1572', protocol: 'dns', port: 53, remediation: watchDns },
  'dns-exfil': { tactic: 'exfiltration', technique: 'T1048.003', protocol: 'dns', port: 53, remediation: watchDns },
  'http-beacon': {
    tactic: 'command-and-control',
    technique: 'T1071.001',
    protocol: 'http',
    port: 80,
    remediation: watchWeb,
  },
  'https-beacon': {
    tactic: 'command-and-control',
    technique: 'T1573.002',
    protocol: 'https',
    port: 443,
    remediation: watchWeb,
  },
  'tcp-beacon': {
    tactic: 'command-and-control',
    technique: 'T1095',
    protocol: 'tcp',
    port: 4444,
    remediation: refusePorts,
  },
  'icmp-beacon': {
    tactic: 'command-and-control',
    technique: 'T1095',
    protocol: 'icmp',
    port: 0,
    remediation: 'Let echo requests out only from where they are needed, and look at their size and rate.',
  },
  'nonstandard-port': {
    tactic: 'command-and-control',
    technique: 'T1571',
    protocol: 'http',
    port: 8088,
    remediation: refusePorts,
  },
  'doh-query': { tactic: 'command-and-control', technique: 'T1572', protocol: 'doh', port: 443, remediation: watchDns },
  'file-download': {
    tactic: 'command-and-control',
    technique: 'T1105',
    protocol: 'http',
    port: 80,
    remediation: 'Scan downloads, archives included, before hosts get them.',
  },
  'http-exfil': { tactic: 'exfiltration', technique: 'T1041', protocol: 'http', port: 80, remediation: watchWeb },
  'smtp-exfil': {
    tactic: 'exfiltration',
    technique: 'T1048.003',
    protocol: 'smtp',
    port: 25,
    remediation: 'Let only mail servers send mail, and look into what they send.',
  },
  'ftp-exfil': {
    tactic: 'exfiltration',
    technique: 'T1048.003',
    protocol: 'ftp',
    port: 21,
    remediation: 'Refuse FTP to the outside, or look into what is sent by it.',
  },
  'chunked-exfil': { tactic: 'exfiltration', technique: 'T1030', protocol: 'http', port: 80, remediation: watchWeb },
  'port-scan': { tactic: 'discovery', technique: 'T1046', protocol: 'tcp', port: 0, remediation: segment },
  'service-probe': { tactic: 'discovery', technique: 'T1046', protocol: 'tcp', port: 8080, remediation: segment },
  'host-sweep': { tactic: 'discovery', technique: 'T1018', protocol: 'tcp', port: 445, remediation: segment },
  'login-spray': {
    tactic: 'credential-access',
    technique: 'T1110.003',
    protocol: 'ftp',
    port: 21,
    remediation: 'Slow down and report many failed sign-ins from one host, also over many accounts.',
  },
  'smb-probe': { tactic: 'lateral-movement', technique: 'T1021.002', protocol: 'smb', port: 445, remediation: segment },
  'encoded-channel': {
    tactic: 'command-and-control',
    technique: 'T1132.001',
    protocol: 'http',
    port: 80,
    remediation: watchWeb,
  },
  'proxy-connect': {
    tactic: 'command-and-control',
    technique: 'T1090',
    protocol: 'http',
    port: 3128,
    remediation: refusePorts,
  },
  wait: { tactic: 'command-and-control', technique: '', protocol: 'tcp', port: 0, remediation: '' },
};

export type StepDraft = Partial<Omit<CampaignStep, 'idx' | 'action'>> & { action: Action };

export interface CampaignScript extends CampaignDraft {
  readonly id: number;
  readonly version: number;
  readonly description: string;
  readonly tags: string;
  /** Day of this version. */
  readonly day: string;
}

/** A step as it is played, from what differs from the defaults of its action. */
export const completeStep = ({ action, ...draft }: StepDraft, idx: number): CampaignStep => ({
  idx,
  action,
  name: action,
  ...stepDefaults[action],
  direction: 'outbound',
  params: {},
  delayMs: 0,
  jitterPct: 0,
  repeat: 1,
  requires: [],
  onBlocked: 'continue',
  expect: action === 'wait' ? 'allow' : 'block',
  ...draft,
});

/** Expands a campaign from its differences to the defaults. */
export const campaign = ({
  steps,
  ...facts
}: Omit<CampaignScript, 'steps'> & { steps: readonly StepDraft[] }): CampaignScript => ({
  ...facts,
  steps: steps.map(completeStep),
});

export const integerParameter = (
  name: string,
  value: number,
  [min, max]: readonly [number, number],
  description: string,
) => ({
  name,
  type: 'integer' as const,
  default: String(value),
  min: String(min),
  max: String(max),
  description,
});
