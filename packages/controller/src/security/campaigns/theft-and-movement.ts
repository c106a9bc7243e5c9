import { campaign, integerParameter } from './campaign-script.ts';

const day = '2026-11-15';
const volume = integerParameter('bytes', 65_536, [1024, 8_388_608], 'Bytes to exfiltrate');

export const theftAndMovement = [
  campaign({
    id: 9,
    name: 'Ingress tool transfer (T1105)',
    description: 'Downloads a second stage: inert test files, plain, in an archive, and high-entropy data.',
    version: 1,
    day,
    tags: 'c2,download,inert',
    steps: [
      { action: 'http-beacon', name: 'request the stage', params: { uriPattern: '/stage', method: 'GET' } },
      { action: 'file-download', name: 'test file', params: { sampleKind: 'eicar' }, delayMs: 500 },
      {
        action: 'file-download',
        name: 'test file in a ZIP archive',
        params: { sampleKind: 'eicar', container: 'zip' },
        delayMs: 500,
      },
      {
        action: 'file-download',
        name: 'high-entropy file',
        params: { sampleKind: 'entropy' },
        delayMs: 500,
        expect: 'detect',
      },
    ],
  }),
  campaign({
    id: 10,
    name: 'Exfiltration over HTTP (T1041)',
    description: 'Uploads collected data over the C2 channel, in one piece and then in small chunks.',
    version: 1,
    day,
    tags: 'exfiltration,http',
    parameters: [volume],
    steps: [
      {
        action: 'http-exfil',
        name: 'in one upload',
        params: { bytes: '{{bytes}}', chunkBytes: 65_536, pattern: 'text' },
      },
      {
        action: 'http-exfil',
        name: 'credit card-like numbers',
        params: { bytes: 4096, chunkBytes: 4096, pattern: 'credit-card-like' },
        delayMs: 500,
      },
      {
        action: 'chunked-exfil',
        name: 'small chunks below size limits',
        params: { bytes: 16_384, chunkBytes: 1024, spacingMs: 100 },
        delayMs: 500,
      },
    ],
  }),
  campaign({
    id: 11,
    name: 'Exfiltration over SMTP and FTP (T1048.003)',
    description: 'Uses alternative protocols where HTTP is inspected: mail, file transfer, DNS.',
    version: 1,
    day,
    tags: 'exfiltration,smtp,ftp',
    steps: [
      {
        action: 'smtp-exfil',
        name: 'SMTP',
        params: { bytes: 8192, chunkBytes: 8192, pattern: 'text' },
        onBlocked: 'next-channel',
      },
      {
        action: 'ftp-exfil',
        name: 'FTP',
        params: { bytes: 32_768, chunkBytes: 16_384, pattern: 'random' },
        delayMs: 500,
      },
      {
        action: 'dns-exfil',
        name: 'DNS labels',
        params: { bytes: 512, chunk: 30, encoding: 'hex', domain: 'last.example.test' },
        delayMs: 100,
      },
    ],
  }),
  campaign({
    id: 12,
    name: 'Network discovery (T1018, T1046)',
    description: 'Sweeps for hosts, scans ports and probes services.',
    version: 1,
    day,
    tags: 'discovery,scan',
    steps: [
      { action: 'host-sweep', name: 'host sweep', direction: 'lateral', params: { count: 8 }, delayMs: 50 },
      {
        action: 'port-scan',
        name: 'port scan',
        direction: 'lateral',
        params: { ports: '21-23,25,80,110,139,143,443,445,3389,8080', rate: 20 },
      },
      {
        action: 'service-probe',
        name: 'service probe',
        direction: 'lateral',
        params: { ports: '8081,8082' },
        delayMs: 200,
      },
    ],
  }),
  campaign({
    id: 13,
    name: 'Password spraying and SMB shares (T1110.003)',
    description: 'One password for many accounts, then the usual SMB shares. The server always rejects.',
    version: 2,
    day,
    tags: 'credential-access,lateral-movement,smb',
    steps: [
      {
        action: 'login-spray',
        name: 'password spraying',
        direction: 'lateral',
        params: { protocol: 'ftp', attempts: 12 },
        delayMs: 100,
      },
      {
        action: 'smb-probe',
        name: 'administrative shares',
        direction: 'lateral',
        params: { shares: ['ADMIN$', 'C$', 'IPC$'] },
        delayMs: 200,
      },
      {
        action: 'smb-probe',
        name: 'other shares',
        direction: 'lateral',
        technique: 'T1135',
        tactic: 'discovery',
        params: { shares: ['backup', 'public'] },
        delayMs: 200,
      },
    ],
  }),
  campaign({
    id: 14,
    name: 'Full attack chain: lookup to exfiltration',
    description:
      'All phases in order: domain lookup, beacon, tool transfer, discovery, password spraying, exfiltration.',
    version: 2,
    day,
    tags: 'c2,discovery,exfiltration,full',
    parameters: [volume],
    steps: [
      {
        action: 'dga-lookup',
        name: 'find the C2 domain',
        params: { count: 10, domains: ['test', 'example', 'invalid'], labelLength: 14, seed: 3, qtype: 'A' },
        delayMs: 50,
      },
      {
        action: 'http-beacon',
        name: 'check in',
        params: { uriPattern: '/in/{{n}}', method: 'POST', bodyBytes: 256 },
        repeat: 3,
        delayMs: 500,
        jitterPct: 25,
      },
      {
        action: 'file-download',
        name: 'download a tool',
        params: { sampleKind: 'eicar', container: 'zip' },
        requires: [1],
      },
      { action: 'wait', name: 'dormant', params: { ms: 1000 } },
      {
        action: 'port-scan',
        name: 'port scan',
        direction: 'lateral',
        params: { ports: '22,443,445,3389', rate: 10 },
      },
      {
        action: 'login-spray',
        name: 'password spraying',
        direction: 'lateral',
        params: { protocol: 'ftp', attempts: 5 },
        delayMs: 100,
      },
      {
        action: 'http-exfil',
        name: 'exfiltrate',
        params: { bytes: '{{bytes}}', chunkBytes: 32_768, pattern: 'random' },
        requires: [1],
      },
    ],
  }),
];
