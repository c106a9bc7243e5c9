import { useParams } from '@tanstack/react-router';
import { MissingPage } from '../../components/page.tsx';
import { ResourceItemPage } from '../../components/resource/resource-item-page.tsx';
import { ResourcePage } from '../../components/resource/resource-page.tsx';
import { resources } from './resources.tsx';

const useResource = () => {
  const { name } = useParams({ strict: false });
  return resources.find((one) => one.name === name);
};

export const ResourceRoute = () => {
  const resource = useResource();
  return resource === undefined ? <MissingPage /> : <ResourcePage key={resource.name} resource={resource} />;
};

export const ResourceItemRoute = () => {
  const resource = useResource();
  const id = Number(useParams({ strict: false }).id);
  if (resource === undefined || !Number.isInteger(id) || id < 1) return <MissingPage />;
  return <ResourceItemPage key={`${resource.name} ${id}`} resource={resource} id={id} />;
};
