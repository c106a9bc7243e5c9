/**
 * Labels of the values of enumerations, `value: Label`, entries separated by `|`.
 * `member.value` applies to that member only.
 */
const table = `
access-control: Access control | address: Single address | agent: One per agent | all: All | deleted.no: Excluding deleted
deleted.only: Only deleted | deleted.all: Including deleted | archived.no: Excluding archived | archived.only: Only archived
archived.all: Including archived | window.all: Whole run | record.all: All cases | hostSelection.all: All hosts
hostSelection.first: First host | allow: Allow | android: Android | any: Any
platform.any: Any platform | match.any: Any bytes | application: Application | archive: Archive
archive-bomb-lite: Small archive bomb | arp: ARP | attack: ATT&CK technique | auth-bypass: Authentication bypass
authorization: Authorization header | auto: Automatic | avg: Mean | backToBack: Back-to-back frames | backdoor: Backdoor
badSignature: Invalid signature | base64: Base64 | base64-flat: Base64 without padding
batteringram: Same payload everywhere | benign: Harmless | bidirectional: Bidirectional streaming | binary: Binary
bit-flip: Bit flips | block: Block | blocked: Blocked | body: Body | boolean: True or false | both: Both
direction.both: Both directions | side.both: Both sides | mode.both: Cleartext and TLS | bps: Bit rate | br: Brotli
branch: Branch | broken-authentication: Broken authentication | builtin: Built in | byte-flip: Byte flips | bytes: Bytes
c2s: Client → server | ca: Certificate authority | caAsLeaf: CA certificate used by a server | campaign: Campaign
canned: Responses of the signature | mode.canned: Fixed response | capture: Capture | case-mix: Mixed case | cef: CEF
cert: Certificates | certificate: Certificate | chargen: Character generator | chunked-exfil: Exfiltration in chunks
client: Client | clientStreaming: Client streaming | clusterbomb: Every combination | collection: Collection
command-and-control: Command and control | command-injection: Command injection | comment-split: SQL comments between words
concurrentSessions: Concurrent sessions | connect: Open and close | contains: Contains | continue: Continue
continuous: Until stopped | cookie: Cookie | core: Core set | count: Count | mode.count: Number of requests
stopOn.count: Number of cases | counter: Counter | credential-access: Credential access | critical: Critical
crlf: CRLF injection | csr: Signing request (CSR) | csv: CSV | custom: Custom value | cve: CVE | cwe: CWE
default: Default port | deflate: Deflate | delete: Deletion | derived: Derived from the IP address
deserialization: Insecure deserialization | destinationMac: Destination MAC | destinationPort: Destination port
detect: Detect | dga-lookup: DGA lookups | dictionary: Dictionary | discard: Discard | discovery: Discovery | dns: DNS
dns-exfil: Exfiltration over DNS | dns-query: DNS query | dns-tunnel: DNS tunnel | doh: DoH | doh-query: DoH query
doq: DoQ | dos: Denial of service | dot: DoT | download: Download | downloader: Downloader | drop: Remove
dropper: Dropper | duplicateExtension: Duplicate extension | eap-mschapv2: EAP-MSCHAPv2 | eap-tls: EAP-TLS
ecdsa-p256: ECDSA P-256 | ecdsa-p384: ECDSA P-384 | echo: Echo | ed25519: Ed25519 | edb: Exploit-DB
eicar: EICAR test file | empty: Empty response | missingBody.empty: Leave empty | encoded-channel: Encoded channel
entropy: High-entropy file | error: Error | exact: Exact bytes | execution: Execution | exfiltration: Exfiltration
expired: Expired | exploit-doc: Exploit document | exponential: Exponential | exposed-resources: Exposed resources
extended: Extended set | extract: Extracted from a response | fail: Fail | fails: Condition fails | failures: Failures only
file: File | type.file: Contents of a file | file-download: File download | file-upload: File upload | fin: FIN | first: First
keep.first: First packets | fixed: Fixed | source.fixed: Fixed value | timing.fixed: Fixed pause | force: Always TLS
form: Form field | format-string: Format string | frameLoss: Frame loss | ftp: FTP | ftp-exfil: Exfiltration over FTP
ftw: FTW | generated: Generated | geneve: Geneve | gotestwaf: GoTestWAF | grammar: Grammar | graphql: GraphQL
graphql-query: GraphQL query | gre: GRE | group: Group | grpc: gRPC | gtpu: GTP-U | gtube: GTUBE test message | gzip: gzip
handshakesPerSecond: Handshakes per second | har: HAR | header: Header | health: Target health | hex: Hex | high: High
holds: Condition holds | host-sweep: Host sweep | html-entity: HTML entities | http: HTTP | match.http: HTTP messages
http-beacon: HTTP beacon | http-case-mix: HTTP header case | http-chunked: HTTP chunked body
http-exfil: Exfiltration over HTTP | http-null-method-space: NUL after the HTTP method | http-pad-headers: HTTP header padding
http-raw: Raw HTTP | http-slash-dots: HTTP path with ./ and // | https: HTTPS | https-beacon: HTTPS beacon
hugeSan: Very many alternative names | human: Approval by a person | icmp: ICMP | icmp-beacon: ICMP beacon | id: ID
imap: IMAP | import: Imported | inbound: Inbound | inconclusive: Inconclusive | increment: Incrementing | infix: Within the value
influx: InfluxDB | info: Info | info-leak: Information leak | initial-access: Initial access | initiator: Initiator
insert-random: Random insertions | integer: Integer | integer-edge: Integer boundaries | interface: Interface
mode.interface: MAC of the interface | intrusive: Intrusive | ios: iOS | ip: IP | ip-fragment-24: IP fragments of 24 bytes
ip-ttl-decoy: Decoy packets with a low TTL | ipip: IP-in-IP | ipsec: IPsec | irc: IRC | jar: Keep like a browser
js-unicode: JavaScript Unicode escapes | json: JSON | json-body: JSON body | json-object: JSON object
json-request: JSON request | jsonLines: JSON lines | keep: As recorded | l2tpv3: L2TPv3 | large-body: Large body | last: Last
latency: Latency | lateral: Lateral | lateral-movement: Lateral movement | ldap: LDAP injection
ldap-injection: LDAP injection | leaf: Leaf certificate | leef: LEEF | length: Same length | length-lie: Wrong length field
lfi: Local file inclusion | linear: Linear ramp | linux: Linux | list: List | login-spray: Password spraying
long-string: Long strings | longChain: Very long chain | low: Low | mac: MAC record | macos: macOS | macro: Office macro
mail-injection: Mail command injection | malware: Malware | manual: Manual keys | mapped: Mapped | mass-assignment: Mass assignment
max: Maximum | mode.max: As fast as possible | defaultSpeedMode.max: As fast as possible | mb: MalwareBazaar | medium: Medium | message: One per message
method: Method | min: Minimum | miner: Miner | misp: MISP | missingIntermediate: Missing intermediate certificate
modified: Modified | mpls: MPLS | mplsLabel: MPLS label | multipart: Multipart field | multiple: Several fields at once
nameNotPermitted: Name not permitted by the CA | neighbourSolicitation: Neighbour solicitation | network: Network
networks: From the networks | never: Never run | newest: Newest packets | next-channel: Try the next channel
noSan: No alternative name | nonCaIssuer: Issuer is not a CA | none: None | nonstandard-port: Nonstandard port
normal: Normal | nosql: NoSQL injection | nosql-injection: NoSQL injection | notYetValid: Not yet valid | nuclei: Nuclei
nulInName: NUL byte in the name | null-byte: NUL bytes | number: Number | off: Off | office: Office | on: On
onShun: When blocked | original: As recorded | other: Other | otlp: OpenTelemetry (OTLP)
oui: Vendor range (OUI) | outbound: Outbound | own: Separate outcome | p50: p50 | p90: p90 | p95: p95 | p99: p99 | p999: p99.9
packet: Packet by packet | packetsPerSecond: Packets per second | pad: Pad to the recorded size | parallel: In parallel
pass: Pass | passed: Passed | path: Path | path-traversal: Path traversal | pathTooLong: Path length exceeded
pattern: Pattern | payload: Payload | pcap: PCAP | perAttempt: For each attempt | perEntry: For each entry
perHost: For each host | perIp: One per IP address | perRequest: For each request | perSlot: One port per slot
pinned: Fixed row per user | pitchfork: Payloads in parallel | plain: Unchanged | pool: From a pool | pop3: POP3
port-scan: Port scan | postfix: After the value | pps: Packet rate | prefix: Before the value | prometheus: Prometheus
protocol-anomaly: Protocol anomaly | protocol.access: Access plane | protocol.accessLine: Access lines | protocol.bfd: BFD
protocol.bgp: BGP | protocol.dhcp: DHCP | protocol.dhcpv6: DHCPv6 | protocol.dot1x: 802.1X | protocol.evpn: EVPN
protocol.fec129: FEC 129 | protocol.gptp: gPTP | protocol.igmp: IGMP | protocol.igmp-querier: IGMP querier
protocol.ipoe: IPoE | protocol.isis: IS-IS | protocol.l2tp: L2TP | protocol.lag: LAG | protocol.ldp: LDP
protocol.link-oam: Link OAM | protocol.links: Links | protocol.mld: MLD | protocol.mld-querier: MLD querier
protocol.mldp: mLDP | protocol.mpls-oam: MPLS OAM | protocol.mpls-tp: MPLS-TP | protocol.openflow: OpenFlow
protocol.ospf: OSPF | protocol.pim: PIM | protocol.ppp: PPP | protocol.pppoe: PPPoE | protocol.pseudowire: Pseudowires
protocol.rip: RIP | protocol.sessions: Sessions | protocol.stp: STP | protocol.vpls: VPLS | protocol.vpws: VPWS
proxy-connect: Proxy CONNECT | psk: Pre-shared key | pua: Unwanted application | quarantined: In quarantine | query: Query
queue: Queue | random: Random | srcMode.random: Random source | range: Range | ransomware: Ransomware | rate: Rate | raw: Raw bytes
placeholders.raw: Whole request | raw-path: Raw path | rce: Remote code execution | read: RDMA READ | receive: Receive
reconnaissance: Reconnaissance | recorded: As recorded | redirect: Redirect | regex: Regular expression | released: Released
repeat: Repetitions | replace: Replace | replace-regex: Replace matches | replay: Send as recorded | reply: Reply | request: Request
requestsPerSecond: Requests per second | resource-consumption: Resource consumption | responder: Responder | rest: REST
revoked: Revoked | rfi: Remote file inclusion | roundRobin: Round robin | routerSolicitation: Router solicitation
rsa2048: RSA 2048 | rsa3072: RSA 3072 | rsa4096: RSA 4096 | rst: RST | runOnce: Run once | s2c: Server → client
same-key: Same key | scanner: Scanner | script: Script | self-signed: Self-signed | selfSigned: Self-signed
send: Send | verb.send: RDMA SEND | sendImm: RDMA SEND with immediate | sequential: Sequential | server: Server
serverAgent: Server agent | serverStreaming: Server streaming | service-probe: Service probe
sessionsPerSecond: Sessions per second | severity: By severity | order.id: By ID | sha1Signature: SHA-1 signature
shared: Shared | shuffle: Shuffled | signature: Signature | silent: No response | sine: Sine wave | single: One field at a time
sites: Websites | size: Size | mode.size: Fixed size | skip: Skip | skipped: Skipped | smb: SMB | smb-probe: SMB probe
smtp: SMTP | smtp-exfil: Exfiltration over SMTP | soap: SOAP | soap-body: SOAP body | sourceAddress: Source address
sourceMac: Source MAC | sourcePort: Source port | spike: Spike | spyware: Spyware | sql-injection: SQL injection
sqli: SQL injection | ssi: Server-side includes | ssrf: Server-side request forgery (SSRF)
ssti: Server-side template injection | starttls: STARTTLS | stateful: Stateful | static: Fixed | status: Status code
steady: Steady state | step: Step | sticky: One per session | stop: Stop | stopSession: Stop the session
stopTask: Stop the run | string: Text | sum: Sum | suricata-eve: Suricata EVE | swap: Swapped bytes
synthesised: Generated response | syslog-regex: Syslog with a pattern | system: System | table: Table | target: One per target
task: Captured by a run | tcp: TCP | tcp-beacon: TCP beacon | tcp-checksum-decoy: Decoy segments with a wrong checksum
tcp-out-of-order: TCP segments out of order | tcp-overlap: Overlapping TCP segments | tcp-segment-1: TCP segments of 1 byte
tcp-segment-8: TCP segments of 8 bytes | tcp-urgent: TCP urgent data | test-file: Test file | text: Text | texts: Texts
think: Think time | throughput: Throughput | throughputBps: Throughput | ticket: Session ticket | time: Time
kind.time: Response time | stopOn.time: Time limit | timestamp: Time stamp | tls: TLS | tls-wrap: Wrapped in TLS | token: Marker in the payload
transport: Transport | trimmed: Trimmed | trojan: Trojan | truncate: Truncation | tunnel: Tunnel
tuple: Addresses and ports | udp: UDP | unary: Unary | unicode: Unicode | uniform: Uniform | unique: Each row once
unknown: Unknown | unknownCriticalExtension: Unknown critical extension | unreachable: Destination unreachable
unreviewed: Not reviewed | upload: Upload | source.upload: Uploaded | url: URL | encoders.url: URL encoding
url-double: Double URL encoding | url-param: URL parameter | url-path: URL path | user: User | user-agent: User agent
kind.user: Uploaded sample | utf16le: UTF-16LE | vendor: Vendor | vlan: VLAN | vt: VirusTotal | vxlan: VXLAN | wait: Wait | warn: Warning
weakKey: Weak key | web: Web | webshell: Web shell | weighted: By weight | windows: Windows | wireguard: WireGuard
worm: Worm | write: RDMA WRITE | writeImm: RDMA WRITE with immediate | wrongHost: Wrong host name
wrongKeyUsage: Wrong key usage | xml-body: XML body | xml-entity: XML character references | xml-injection: XML injection
xss: Cross-site scripting (XSS) | xxe: XML external entities (XXE) | zero: Zero bytes
<: < | <=: ≤ | >: > | >=: ≥ | ==: = | !=: ≠ | version.4: IPv4 | version.6: IPv6 | type.1: Client | type.2: Server | type.3: Both
agents:read: Read agents | audit:read: Read the audit log | drafts:write: Write drafts | resources:read: Read resources
results:read: Read results | state:read: Read the state | tasks:control: Control runs | tasks:create: Create tasks
tasks:delete: Delete tasks | tasks:read: Read tasks | tasks:start: Start tasks
up: Up | down: Down | mgmt: Management | test: Test traffic | base32: Base32 | tlsProfile.default: Default
browser: Browser | go: Go | java: Java | old-implant: Old implant | credit-card-like: Card numbers (fictitious) | zip: ZIP
tar.gz: tar.gz | zip-aes: ZIP (AES) | zipcrypto: ZIP (ZipCrypto) | tar: tar | mime-base64: MIME (Base64)
pdf-attachment: Attachment of a PDF | ooxml-embedded: Embedded in an Office document
mechanism.tcp-reset: TCP reset | silent-drop: Silent drop | connect-refused: Connection refused | block-page: Block page
mechanism.fin: Connection closed | tls-alert: TLS alert | mechanism.icmp: ICMP error | content-replaced: Content replaced
content-removed: Content removed | response-blocked: Response blocked | rate-limited: Rate limited
end.response: Response received | end.reset: Reset | end.fin: Closed | timeout: Timeout | end.alert: TLS alert
end.none: Never ended | connect.ok: Connected | refused: Refused | tls-failed: TLS handshake failed
connect.none: Not connected | seen.none: Nothing arrived | seen.connected: Connection only | seen.partial: Part of it arrived
seen.full: Arrived unchanged | seen.modified: Arrived changed | yes: Yes | no: No | waf: WAF | fuzz: Fuzzing
debug: Debug | ok: Allowed | denied: Denied | outcome.failed: Failed
`;

/** Record types of DNS and methods of HTTP have no other names. */
const verbatim = 'A AAAA ANY CNAME MX NS PTR SOA SRV TXT GET POST PUT';

const choices: ReadonlyMap<string, string> = new Map([
  ...verbatim.split(' ').map((name) => [name, name] as const),
  ...table
    .split(/ \| |\n/)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, value = '', label = ''] = /^(.+?): (.+)$/.exec(entry) ?? [];
      return [value, label] as const;
    }),
]);

/** The label of a value of an enumeration, if it has one. Some values mean something else in some members. */
export const findChoiceLabel = (value: string, member: string): string | undefined =>
  choices.get(`${member}.${value}`) ?? choices.get(value);

/** The labels of values that one text holds, separated by slashes. */
export const choicesText = (values: string, member: string): string =>
  values
    .split('/')
    .map((value) => choiceLabelOf(value, member))
    .join(' / ');

/** The label of a value of an enumeration; versions and other numbers are their own labels. */
export const choiceLabelOf = (value: unknown, member: string): string =>
  findChoiceLabel(String(value), member) ?? String(value);
