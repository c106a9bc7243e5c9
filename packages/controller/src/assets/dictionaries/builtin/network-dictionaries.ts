import type { BuiltinDictionary } from './builtin-dictionary.ts';

const domains = ['shop', 'bank', 'news', 'office', 'school', 'clinic', 'travel', 'games', 'cloud', 'video'];
const hosts = ['www', 'mail', 'api', 'static', 'login'];

/** Names at the edges of what DNS allows. */
const edges = [
  'test',
  'a.test',
  '1.test',
  '0-0.test',
  '_service._tcp.office.test',
  'with--hyphens.test',
  'xn--mnchen-3ya.test',
  'xn--fsqu00a.test',
  'xn--ls8h.test',
  `${'l'.repeat(63)}.test`,
  `${Array.from({ length: 3 }, (_, i) => String(i + 1).repeat(63)).join('.')}.${'z'.repeat(56)}.test`,
  `${Array.from({ length: 60 }, () => 'd').join('.')}.test`,
  'no-such-name.test',
  'slow.test',
  'wildcard.any.of.these.test',
];

export const testNames: BuiltinDictionary = {
  name: 'Names below .test',
  description: 'Host names that can never be real (RFC 6761): services, and names at the edges of what DNS allows',
  tags: 'dns,host',
  selection: 'shuffle',
  columns: ['host'],
  values: [...domains.flatMap((domain) => hosts.map((host) => `${host}.${domain}.test`)), ...edges],
};

/** `port/transport service`, a line each. */
const ports = `
7/tcp echo
9/udp discard
20/tcp ftp-data
21/tcp ftp
22/tcp ssh
23/tcp telnet
25/tcp smtp
53/tcp dns
53/udp dns
67/udp dhcp-server
68/udp dhcp-client
69/udp tftp
80/tcp http
88/tcp kerberos
110/tcp pop3
111/tcp rpcbind
119/tcp nntp
123/udp ntp
135/tcp msrpc
137/udp netbios-ns
138/udp netbios-dgm
139/tcp netbios-ssn
143/tcp imap
161/udp snmp
162/udp snmp-trap
179/tcp bgp
389/tcp ldap
443/tcp https
443/udp http3
445/tcp smb
464/tcp kpasswd
465/tcp submissions
500/udp ike
502/tcp modbus
514/udp syslog
515/tcp printer
520/udp rip
546/udp dhcpv6-client
547/udp dhcpv6-server
554/tcp rtsp
587/tcp submission
623/udp ipmi
631/tcp ipp
636/tcp ldaps
853/tcp dns-over-tls
853/udp dns-over-quic
873/tcp rsync
989/tcp ftps-data
990/tcp ftps
993/tcp imaps
995/tcp pop3s
1080/tcp socks
1194/udp openvpn
1433/tcp mssql
1521/tcp oracle
1701/udp l2tp
1723/tcp pptp
1812/udp radius
1813/udp radius-accounting
1883/tcp mqtt
1900/udp ssdp
2049/tcp nfs
2152/udp gtp-user
2375/tcp docker
2379/tcp etcd
3128/tcp http-proxy
3268/tcp global-catalog
3306/tcp mysql
3389/tcp rdp
3478/udp stun
3784/udp bfd
4317/tcp otlp
4500/udp ipsec-nat
4789/udp vxlan
5060/udp sip
5061/tcp sips
5201/tcp iperf3
5353/udp mdns
5432/tcp postgresql
5555/tcp adb
5671/tcp amqps
5672/tcp amqp
5683/udp coap
5900/tcp vnc
5985/tcp winrm
6053/tcp iot-api
6379/tcp redis
6443/tcp kubernetes
6653/tcp openflow
8000/tcp http-alt
8080/tcp http-alt
8443/tcp https-alt
8883/tcp mqtts
8888/tcp http-alt
9000/tcp http-alt
9042/tcp cassandra
9090/tcp prometheus
9092/tcp kafka
9100/tcp raw-print
9200/tcp elasticsearch
9418/tcp git
10250/tcp kubelet
11211/tcp memcached
15672/tcp rabbitmq-admin
20000/tcp dnp3
25565/tcp minecraft
27017/tcp mongodb
44818/tcp ethernet-ip
47808/udp bacnet
51820/udp wireguard
`;

export const commonPorts: BuiltinDictionary = {
  name: 'Common ports',
  description: 'Ports of well-known services',
  tags: 'tcp,udp,port',
  selection: 'sequential',
  columns: ['port', 'transport', 'service'],
  rows: ports
    .trim()
    .split('\n')
    .map((line) => line.split(/[/ ]/)),
};
