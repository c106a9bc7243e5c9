import type { Application, Certificate, Dictionary } from '@rushhour/contract';
import { lazy } from 'react';
import { DownloadLink } from '../../components/buttons.tsx';
import { idOf, nameOf, type Resource } from '../../components/resource/resource.ts';
import { TestWithButton } from '../../components/test-with-button.tsx';
import { NewApplicationDialog } from '../../features/applications/new-application-dialog.tsx';
import { ExpiryBadge } from '../../features/certificates/expiry-badge.tsx';
import { NewCertificateDialog } from '../../features/certificates/new-certificate-dialog.tsx';
import { PemButton } from '../../features/certificates/pem-button.tsx';
import { DictionaryDetails } from '../../features/dictionaries/dictionary-details.tsx';
import { FromFileButton } from '../../features/dictionaries/from-file-button.tsx';
import { FileActions, isCapture } from '../../features/files/file-actions.tsx';
import { UploadPanel } from '../../features/files/upload-panel.tsx';
import { loadMacPolicy, NetworkDetails } from '../../features/networks/network-details.tsx';
import { NetworkPreview } from '../../features/networks/network-preview.tsx';
import { TunnelParams } from '../../features/tunnels/tunnel-params.tsx';
import { text } from '../../lib/text.ts';
import { columns } from './columns.ts';

const CertificateDetails = lazy(async () => ({
  default: (await import('../../features/certificates/certificate-details.tsx')).CertificateDetails,
}));
const CaptureView = lazy(async () => ({
  default: (await import('../../features/files/capture-view.tsx')).CaptureView,
}));
const ContentView = lazy(async () => ({
  default: (await import('../../features/files/content-view.tsx')).ContentView,
}));
const ApplicationDetails = lazy(async () => ({
  default: (await import('../../features/applications/application-details.tsx')).ApplicationDetails,
}));

const { hints, nav } = text;

/** Networks, certificates, files and other records that tests use. */
export const assetResources: readonly Resource[] = [
  {
    name: 'networks',
    title: nav.networks,
    hint: hints.networks,
    columns: [columns.name, { key: 'subnet' }, { key: 'gateway', isMinor: true }, columns.changed, columns.createdBy],
    form: ['name', 'subnet', 'gateway', 'macPolicy'],
    formMore: [
      'type',
      'excludes',
      'pattern',
      'ports',
      'gatewayMacMode',
      'gatewayMac',
      'gatewayMacId',
      'macOverrides',
      'spoofing',
    ],
    formAside: (value, item) => <NetworkPreview value={value} id={item && idOf(item)} />,
    loadMore: (item) => loadMacPolicy(idOf(item)),
    actions: ([item, ...others]) =>
      item && others.length === 0 && <TestWithButton template="HTTP through 10,000 client addresses" id={idOf(item)} />,
    details: (item) => <NetworkDetails id={idOf(item)} />,
  },
  {
    name: 'macs',
    title: nav.macs,
    hint: hints.macs,
    columns: [
      columns.name,
      { key: 'address' },
      { key: 'kind' },
      { key: 'count', header: text.networks.addresses, align: 'right', isMinor: true },
      columns.changed,
    ],
  },
  {
    name: 'tunnels',
    title: nav.tunnels,
    hint: hints.tunnels,
    columns: [
      columns.name,
      { key: 'type' },
      { key: 'count', header: nav.tunnels, align: 'right', isMinor: true },
      { key: 'mtu', align: 'right', isMinor: true },
      columns.changed,
      columns.createdBy,
    ],
    form: ['name', 'type', 'endpoints', 'params', 'tags'],
    formMore: ['description', 'clientIp', 'serverIp', 'count', 'mtu', 'certificateID'],
    controls: { params: TunnelParams },
  },
  {
    name: 'certificates',
    title: nav.certificates,
    hint: hints.certificates,
    columns: [
      columns.name,
      {
        key: 'subject',
        isMinor: true,
        render: (item) => certificateOf(item).details?.subject ?? '–',
      },
      {
        key: 'notAfter',
        render: (item) => <ExpiryBadge details={certificateOf(item).details} />,
      },
      { key: 'hasPrivate', isMinor: true },
      columns.changed,
    ],
    createForm: (props) => <NewCertificateDialog {...props} />,
    actions: ([item, ...others]) =>
      item &&
      others.length === 0 && (
        <>
          {certificateOf(item).hasPrivate && (
            <TestWithButton template="TLS handshakes with a certificate" id={idOf(item)} />
          )}
          <PemButton id={idOf(item)} name={nameOf(item)} />
        </>
      ),
    details: (item) => <CertificateDetails certificate={certificateOf(item)} />,
    hidden: ['details', 'private'],
  },
  {
    name: 'files',
    title: nav.files,
    hint: hints.files,
    columns: [
      columns.name,
      { key: 'category' },
      { key: 'size', align: 'right' },
      columns.tags,
      { key: 'createdAt', isMinor: true },
    ],
    form: ['name', 'category', 'tags'],
    formMore: ['source', 'first_seen_at'],
    intro: <UploadPanel />,
    hasOwnCreation: true,
    actions: (items, done) => <FileActions items={items} done={done} />,
    details: (item) => (isCapture(item) ? <CaptureView id={idOf(item)} /> : <ContentView id={idOf(item)} />),
  },
  {
    name: 'applications',
    title: nav.applications,
    hint: hints.applications,
    columns: [
      columns.name,
      { key: 'sessionCount', align: 'right' },
      { key: 'parameterCount', align: 'right' },
      { key: 'mode', isMinor: true },
      columns.tags,
      columns.changed,
    ],
    form: ['name', 'description', 'tags', 'mode', 'defaultSpeedMode', 'defaultUsers', 'loop', 'followTimestamps'],
    formMore: ['clientIp', 'defaultTimeout', 'timingGapThresholdMs', 'allowPerSessionSpeed', 'lockParameters'],
    createForm: (props) => <NewApplicationDialog {...props} />,
    actions: (items) =>
      items[0] &&
      items.length === 1 && (
        <>
          <TestWithButton template="Application users" id={idOf(items[0])} />
          <DownloadLink href={`/v1/applications/${idOf(items[0])}/export`} label={text.applications.export} />
        </>
      ),
    details: (item) => <ApplicationDetails application={item as unknown as Application} />,
    hasPreview: true,
    filters: [
      {
        name: 'tag',
        label: text.applications.kind,
        options: Object.entries(text.applications.kinds).map(([value, label]) => ({ value, label })),
      },
    ],
    isChangeable: ({ source }) => source !== 'builtin',
    isRemovable: ({ source }) => source !== 'builtin',
    hidden: ['sessions', 'parameters'],
  },
  {
    name: 'dictionaries',
    title: nav.dictionaries,
    hint: hints.dictionaries,
    columns: [columns.name, { key: 'type' }, { key: 'rowCount', align: 'right' }, columns.tags, columns.changed],
    form: ['name', 'type', 'description', 'tags', 'values', 'selection'],
    formMore: ['columns', 'rows', 'config', 'fileID'],
    header: <FromFileButton />,
    isChangeable: ({ source }) => source !== 'builtin',
    details: (item) => <DictionaryDetails dictionary={item as unknown as Dictionary} />,
    hidden: ['rows', 'values', 'columns', 'sample'],
  },
];

const certificateOf = (item: object) => item as Certificate;
