import { useParams } from '@tanstack/react-router';
import { MissingPage } from '../../components/page-states.tsx';
import { ResourceItemPage } from '../../components/resource/resource-item-page.tsx';
import { resources } from './resources.tsx';

export const ResourceItemRoute = () => {
  const { name, id } = useParams({ strict: false });
  const resource = resources.find((one) => one.name === name);
  const number = Number(id);
  if (resource === undefined || !Number.isInteger(number) || number < 1) return <MissingPage />;
  return <ResourceItemPage key={`${resource.name} ${number}`} resource={resource} id={number} />;
};
