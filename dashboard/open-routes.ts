/** Every page and answer of the dashboard, each made of what it needs. */
import type { NatsConnection } from '@nats-io/transport-node'
import { isDemonstrationChain } from '../core/proof/demonstration-chain.ts'
import type { Logger } from '../runtime/log.ts'
import { watchBucket } from '../runtime/nats/buckets/watched-bucket.ts'
import type { MailQueue } from '../runtime/nats/mail-queue.ts'
import type { SecretBox } from '../runtime/secrets/seal-secret.ts'
import {
  type AnyDeployment,
  parseDeploymentAt,
  placeOfDeployment,
} from '../schemas/anchoring/deployments.ts'
import { buckets } from '../schemas/subjects.ts'
import type { DashboardConfig } from './config.ts'
import type { Site } from './frame.ts'
import type { Accounts } from './open-accounts.ts'
import type { PlacePages } from './open-place-pages.ts'
import { aboutRoutes } from './server/about.ts'
import { openAccountApi } from './server/account-api/account-api.ts'
import { openAudit } from './server/account-api/audit.ts'
import type { CityMap } from './server/city-map.ts'
import { dataProxy } from './server/data-proxy.ts'
import { eventCatalogue } from './server/event-catalogue.ts'
import { chooseLanguage, keepLanguage } from './server/language.ts'
import { me, pageConfig } from './server/me.ts'
import { networkRoute } from './server/network.ts'
import { openPeople } from './server/people/open-people.ts'
import { qrCodes } from './server/qr-codes.ts'
import type { DashboardRoute } from './server/route.ts'

type Options = Accounts & {
  readonly nc: NatsConnection
  readonly settings: DashboardConfig
  readonly site: Site
  readonly idPrefix: string
  readonly cityMap: CityMap
  readonly placePages: PlacePages
  readonly mails: MailQueue
  readonly box: SecretBox
  /** The dashboard's own, for the API. */
  readonly key: () => string
  readonly nowMs: () => number
  /** Never goes back, in ms. */
  readonly clockMs: () => number
  readonly stop: AbortSignal
  readonly log: Logger
}

export async function openRoutes(
  options: Options,
  opened: AsyncDisposableStack,
): Promise<readonly DashboardRoute[]> {
  const { nc, settings, site, cityMap, placePages, key, nowMs, clockMs, stop, log } = options
  const { publicUrl, publicApiUrl, proxies, apiUrl, contact, network } = settings
  // it shows which chain it is, and decides nothing
  const deployments = opened.use(
    await watchBucket(nc, buckets.anchoring, deploymentOf, { isReadOnly: true }),
  )
  const audit = openAudit(nc, { proxies, nowMs })
  const onNotice = (line: string): void => log.info(line)
  const { silence } = placePages
  const accountApi = opened.use(await openAccountApi({ ...options, audit, silence, onNotice }))
  const people = await openPeople({ ...options, audit, publicUrl, proxies })
  return [
    me,
    chooseLanguage(keepLanguage(options.book)),
    ...aboutRoutes(site),
    pageConfig({
      url: publicUrl,
      api: publicApiUrl,
      contact,
      network: network.name,
      idPrefix: network.idPrefix,
      timezone: network.timezone,
      box: cityMap.box,
      map: cityMap.config,
      isDemonstration: () => {
        // all contracts of an instance are on one chain
        const [[, deployment] = []] = deployments.entries()
        return deployment !== undefined && isDemonstrationChain(deployment.chainId)
      },
    }),
    ...cityMap.routes,
    networkRoute({ apiUrl, nowMs }),
    eventCatalogue,
    ...qrCodes({ publicUrl, proxies, clockMs }),
    ...placePages.routes,
    ...people,
    ...accountApi.routes,
    ...dataProxy({ apiUrl, key, proxies, clockMs, stop }),
  ]
}

function deploymentOf(value: unknown, key: string): AnyDeployment | undefined {
  const place = placeOfDeployment(key)
  return place === undefined ? undefined : parseDeploymentAt(place, value)
}
