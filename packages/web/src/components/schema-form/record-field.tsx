import type { ResourceName } from '../resource/resource.ts';
import { type FieldProps, frameOf } from './field.ts';
import { RecordSelect, RecordsSelect } from './record-select.tsx';

/** The collections of members that reference records by id. */
export const recordsOf: Readonly<Record<string, ResourceName>> = {
  groupID: 'groups',
  projectID: 'projects',
  macId: 'macs',
  gatewayMacId: 'macs',
  macIds: 'macs',
  certificateID: 'certificates',
  caCertificateID: 'certificates',
  issuerCertificateID: 'certificates',
  fileID: 'files',
  fileId: 'files',
  pcapFileId: 'files',
  trimmedPcapFileId: 'files',
  sourceFileID: 'files',
  releasedBy: 'users',
  attestedBy: 'users',
  activeTaskIDs: 'tasks',
  networkID: 'networks',
  tunnelID: 'tunnels',
  dictionaryID: 'dictionaries',
  applicationID: 'applications',
  agentID: 'agents',
  taskID: 'tasks',
  userID: 'users',
};

export const RecordField = (props: FieldProps) => (
  <RecordSelect
    {...frameOf(props)}
    name={recordsOf[props.name] as ResourceName}
    value={props.value as number | undefined}
    onChange={props.onChange}
    clearable={!props.isRequired}
  />
);

export const RecordsField = (props: FieldProps) => (
  <RecordsSelect
    {...frameOf(props)}
    name={recordsOf[props.name] as ResourceName}
    value={(props.value as number[] | undefined) ?? []}
    onChange={(next) => props.onChange(next.length === 0 ? undefined : next)}
  />
);
