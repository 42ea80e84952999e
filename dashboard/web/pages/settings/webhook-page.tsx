import type { PageProps } from '../../page.ts'

export const WebhookPage = ({ params }: PageProps) => <h1>Webhook {params['id']}</h1>
