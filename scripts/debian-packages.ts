import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.ts';

const libraryAt = (name: string) => `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/${name}`;

/** Programs that tests run or compare with, and the Debian package of each. */
export const packages: Record<string, string> = {
  openssl: 'openssl',
  unzip: 'unzip',
  zip: 'zip',
  curl: 'curl',
  tshark: 'tshark',
  editcap: 'wireshark-common',
  text2pcap: 'wireshark-common',
  tcpdump: 'tcpdump',
  'nats-server': 'nats-server',
  nginx: 'nginx-light',
  wrk: 'wrk',
  ab: 'apache2-utils',
  h2load: 'nghttp2-client',
  gtlsclient: 'ngtcp2-client',
  gtlsserver: 'ngtcp2-server',
  dig: 'bind9-dnsutils',
  kdig: 'knot-dnsutils',
  protoc: 'protobuf-compiler',
  dnsmasq: 'dnsmasq-base',
  dhclient: 'isc-dhcp-client',
  dhcpd: 'isc-dhcp-server',
  'kea-dhcp4': 'kea-dhcp4-server',
  'kea-dhcp6': 'kea-dhcp6-server',
  perfdhcp: 'kea-admin',
  radvd: 'radvd',
  'ovs-vswitchd': 'openvswitch-switch',
  'ovs-testcontroller': 'openvswitch-testcontroller',
  hostapd: 'hostapd',
  xl2tpd: 'xl2tpd',
  ptp4l: 'linuxptp',
  freeradius: 'freeradius',
  wpa_supplicant: 'wpasupplicant',
  nft: 'nftables',
  ip: 'iproute2',
  tc: 'iproute2',
  ping: 'iputils-ping',
  taskset: 'util-linux',
  chromium: 'chromium',
  tar: 'tar',
  '/bin/busybox': 'busybox-static',
  shellcheck: 'shellcheck',
  zsh: 'zsh',
  fish: 'fish',
  prometheus: 'prometheus',
  'docker-compose': 'docker-compose',
  influxd: 'influxdb',
  'systemd-analyze': 'systemd',
  '/lib/systemd/systemd-networkd': 'systemd',
  ethtool: 'ethtool',
  haproxy: 'haproxy',
  squid: 'squid',
  'c-icap': 'c-icap',
  clamd: 'clamav-daemon',
  trafgen: 'netsniff-ng',
  tcpreplay: 'tcpreplay',
  dnsperf: 'dnsperf',
  iperf3: 'iperf3',
  vtysh: 'frr',
  bird: 'bird2',
  gobgpd: 'gobgpd',
  exabgp: 'exabgp',
  bgpctl: 'openbgpd',
  'wireguard-go': 'wireguard-go',
  wg: 'wireguard-tools',
  '/usr/lib/nginx/modules/ngx_http_modsecurity_module.so': 'libnginx-mod-http-modsecurity',
  '/usr/share/modsecurity-crs/rules': 'modsecurity-crs',
  '/etc/c-icap/virus_scan.conf': 'libc-icap-mod-virus-scan',
  swanctl: 'strongswan-swanctl',
  '/usr/lib/ipsec/charon': 'strongswan-charon',
  '/usr/lib/ipsec/plugins/libstrongswan-kernel-libipsec.so': 'libcharon-extra-plugins',
  '/usr/lib/ipsec/plugins/libstrongswan-eap-mschapv2.so': 'libcharon-extauth-plugins',
  '/usr/lib/ipsec/plugins/libstrongswan-curve25519.so': 'libstrongswan-extra-plugins',
  '/usr/lib/ipsec/plugins/libstrongswan-openssl.so': 'libstrongswan-standard-plugins',
  certutil: 'libnss3-tools',
  [libraryAt('libevent_core-2.1.so.7')]: 'libevent-core-2.1-7',
  [libraryAt('libevent_pthreads-2.1.so.7')]: 'libevent-pthreads-2.1-7',
  [libraryAt('libldns.so.3')]: 'libldns3',
  [libraryAt('libunbound.so.8')]: 'libunbound8',
  [libraryAt('libcurl-nss.so.4')]: 'libcurl3-nss',
  '/usr/lib/postgresql': 'postgresql',
  scapy: 'python3-scapy',
  '/usr/lib/python3/dist-packages/aiosmtpd': 'python3-aiosmtpd',
  '/usr/lib/python3/dist-packages/grpc': 'python3-grpcio',
  '/usr/lib/python3/dist-packages/swift': 'python3-swift',
  '/usr/lib/python3/dist-packages/yaml': 'python3-yaml',
};

/** Packages that cannot be installed beside those above: they are unpacked into a folder, and tests start them there. */
const unpacked = ['libreswan'];

/** Where the files of such a package are. */
export const unpackedFolder = (name: string): string => join(root, 'node_modules/.rushhour-debian', name);

const unpack = (name: string): void => {
  const folder = unpackedFolder(name);
  if (existsSync(folder)) return;
  console.log(`unpacking ${name}`);
  const work = `${folder}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  const download = () => spawnSync('apt-get', ['download', '-qq', name], { cwd: work, stdio: 'ignore' }).status === 0;
  if (!download()) {
    spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore' });
    if (!download()) throw new Error(`apt-get could not download ${name}`);
  }
  const file = readdirSync(work).find((one) => one.endsWith('.deb')) ?? '';
  const { status } = spawnSync('dpkg', ['-x', join(work, file), join(work, 'files')], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`dpkg could not unpack ${file}`);
  renameSync(join(work, 'files'), folder);
  rmSync(work, { recursive: true });
};

const isThere = (program: string) =>
  spawnSync('sh', ['-c', `command -v "$1" || test -e "$1" || test -x "/usr/sbin/$1"`, 'sh', program]).status === 0;

/** Installs missing packages as root; otherwise throws an error that names them. */
export const ensureDebianPackages = () => {
  installMissing();
  for (const name of unpacked) unpack(name);
};

const installMissing = () => {
  const missing = [
    ...new Set(
      Object.entries(packages)
        .filter(([program]) => !isThere(program))
        .map(([, name]) => name),
    ),
  ];
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0) {
    throw new Error(
      `the tests need programs that are not installed: apt-get install ${missing.join(' ')} (as root they would be installed now)`,
    );
  }
  console.log(`installing ${missing.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = () =>
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  if (install().status === 0) return;
  spawnSync('apt-get', ['update', '-qq'], { env, stdio: 'ignore' });
  if (install().status !== 0) throw new Error(`apt-get could not install ${missing.join(' ')}`);
};
