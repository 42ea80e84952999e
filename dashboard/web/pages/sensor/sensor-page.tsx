import type { PageProps } from '../../page.ts'

export const SensorPage = ({ params }: PageProps) => <h1>{params['id']}</h1>
