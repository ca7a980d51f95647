/**
 * What the keys of a flow file do, for editors and for the reference. A key is named by the end of its path; the longest
 * end wins. `NAME` stands for a name that the user chooses. Keys whose schema has a description are not here.
 */
export const KEY_DESCRIPTIONS: Readonly<Record<string, string>> = {
  name: "Namespaces every key in the store; processes of one store and name share limits.",
  store: "Where processes meet that share limits. Redis needs `npm install ioredis`.",
  redis: "One of `url`, `sentinel` and `cluster`.",
  "redis.url": "`redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS.",
  "redis.sentinel": "Servers behind Redis Sentinel.",
  "sentinel.masterName": "The name that Sentinel has for the master.",
  "sentinel.endpoints": "Addresses of the Sentinel processes.",
  "sentinel.database": "The database. Default: 0.",
  "redis.cluster": "A Redis Cluster.",
  "cluster.nodes": "Some of its nodes; the others are discovered.",
  "endpoints.host": "Host name or address.",
  "endpoints.port": "TCP port.",
  "nodes.host": "Host name or address.",
  "nodes.port": "TCP port.",
  "redis.username": "User of the server. Default: none.",
  "redis.passwordFile": "A file with the password. Default: none.",
  "redis.tls": "Encrypts the connections, and checks the server's name. Default: false.",
  admin:
    "Dashboard, REST and `/metrics` over HTTP. Default: none; without it nothing can be asked or changed.",
  "admin.listen": "The address; port 0 takes a free one.",
  "admin.advertisedHost": "The host that tools are sent to. Default: the host of `listen`.",
  "admin.tokenFile":
    "A bearer token of 16 characters or more; needed beyond 127.0.0.1 unless `gateway.auth` is set. Default: none.",
  "admin.readWithoutToken":
    "The dashboard, `/api` and `/metrics` are read without the token; changes, and what `pulsar-admin` asks, need it.",
  "gateway.listen":
    "An address or a list of them; `pulsar+ssl://` needs `tls`. Default: pulsar://127.0.0.1:6650.",
  "gateway.advertisedHost": "The host that clients are sent to. Default: the host of `listen`.",
  "gateway.upstream":
    "`embedded`, or a cluster by its URL or a map; a cluster excludes `partitions`, `retention` and `auth`.",
  "upstream.url": "`pulsar://a:6650,b:6650` or `pulsar+ssl://…`; addresses are tried in turn.",
  "upstream.tls":
    "For `pulsar+ssl://`: the CA to trust, and a certificate of the gateway's own. Default: Node's CAs.",
  "tls.ca": "A file with the CA to trust, PEM. Default: Node's CAs.",
  "tls.cert": "A file with the certificate, PEM. Default: none.",
  "tls.key": "A file with the key of the certificate, PEM. Default: none.",
  "gateway.tls": "Certificate and key for addresses of `pulsar+ssl://`. Default: none.",
  "gateway.tls.cert": "A file with the certificate, PEM.",
  "gateway.tls.key": "A file with its key, PEM.",
  "upstream.allow": "Further brokers that clients may be connected to. Default: none.",
  "allow.hosts": "Brokers by name and port, such as `broker-2:6650`. Default: none.",
  "allow.addresses":
    "Local addresses that brokers may have, such as `10.0.0.0/8`. Default: the networks of `url`.",
  "upstream.lookup":
    "Where lookups send clients: `proxy`, `own-address`, or by the client's name. Default: auto.",
  "upstream.connectMs": "How long one address may take to accept a connection, ms. Default: 5000.",
  "upstream.handshakeMs": "From a client's CONNECT to the broker's CONNECTED, ms. Default: 30000.",
  "upstream.proxyVersion": "What CONNECT tells brokers about the gateway. Default: nothing.",
  "gateway.data":
    "A folder that keeps messages and limits that were set, or `memory`. Default: ./sluice-data.",
  "gateway.partitions": "Topics with their number of partitions, `{ orders: 4 }`. Default: none.",
  "gateway.retention":
    "How much is kept of what all subscriptions have consumed; one bound alone leaves the other without a limit. Default: nothing.",
  "retention.size": "Bytes, such as 64MiB. Default: not limited.",
  "retention.age": "Age, such as 1h. Default: not limited.",
  "gateway.messageTtl":
    "Older messages count as acknowledged by every subscription, as with Pulsar's `ttlDurationDefaultInSeconds`; a namespace or a topic may have its own. Default: never.",
  "gateway.auth":
    "Clients need a token signed with one of the two keys. Default: every client may connect.",
  "auth.tokenSecretFile": "A secret of 32 bytes or more. Default: none.",
  "auth.tokenPublicKeyFile":
    "The public half of a key pair; PEM, or DER as Pulsar's tool writes it. Default: none.",
  "auth.allowNoExpiry": "Accepts tokens without `exp`, as Pulsar's own tool makes them.",
  "auth.roles":
    "What the roles of tokens may do; permissions that were granted add to it. Default: all may do everything.",
  "roles.NAME.produce": "Patterns of topics to publish to. Default: none.",
  "roles.NAME.consume": "Patterns of topics to subscribe to. Default: none.",
  "roles.NAME.admin": "May do everything, administration included.",
  "gateway.allowAnonymous": "Listens beyond this machine without tokens and TLS.",
  "gateway.connections": "Bounds of connections. Default: those of its keys.",
  "connections.connectionsMax": "Connections at once. Default: 10000.",
  "connections.connectionsPerAddressMax":
    "Connections of one address at once; loopback is not counted. Default: 256.",
  "connections.perSecond": "New connections a second. Default: not limited.",
  "connections.perAddressPerSecond":
    "New connections a second of one address. Default: not limited.",
  "gateway.fleet": "The gateways that share limits. Default: those of its keys.",
  "gateway.fleet.maxMembers":
    "The most gateways that share limits; without the store each uses a limit divided by it. Default: 8.",
  "gateway.limits": "Limits of publishing, deliveries and SUBSCRIBE. Default: none.",
  messages: "Messages a second, such as 1000/s. Default: not limited.",
  bytes: "Bytes a second, such as 10MB/s. Default: not limited.",
  "limits.broker": "A limit of all topics together. Default: none.",
  "broker.shared": "All gateways of the same `name` and `store` share the limit. Default: false.",
  "limits.groups": "Limits of several topics together, by a name. Default: none.",
  "groups.NAME.topics":
    "Patterns `tenant/namespace/topic` with `*`; a namespace or a tenant alone stands for all its topics.",
  "groups.NAME.shared":
    "All gateways of the same `name` and `store` share the limit. Default: false.",
  "limits.namespaces":
    "A limit of each topic of a namespace that has none in `topics`, by `tenant/namespace`. Default: none.",
  "limits.topics": "A limit of one topic, by its name; its partitions share it. Default: none.",
  "limits.topicDefault": "A limit of each topic that has none by name or namespace. Default: none.",
  "limits.connection": "Bounds of one connection. Default: those of its keys.",
  "connection.pendingMessages":
    "SENDs of a connection that are being stored; reading stops there, and goes on at half. Default: 1000.",
  "connection.heldBytes":
    "Bytes of a connection that wait for a limit; reading stops there. Default: four times what is left of half of the counted memory, 16MiB to 128MiB.",
  "limits.memory":
    "Bytes by which clients may make the process grow; three quarters of them are counted. Default: 256MiB.",
  "limits.maxHoldMs":
    "Age of the oldest waiting frame from which its producer may not hold more, ms; 4 × that while another producer of the connection is within its limits. Default: 5000.",
  "limits.dispatch": "Limits of deliveries to consumers. Default: none.",
  "dispatch.broker": "A limit of all deliveries together. Default: none.",
  "dispatch.topicDefault": "A limit of each topic that has no other. Default: none.",
  "dispatch.subscriptionDefault": "A limit of each subscription that has no other. Default: none.",
  "dispatch.namespaces": "A limit of each topic of a namespace. Default: none.",
  "dispatch.namespaceSubscriptions":
    "A limit of each subscription of a namespace's topics. Default: none.",
  "dispatch.topics":
    "A limit of one topic, which its subscriptions and partitions share. Default: none.",
  "dispatch.topicSubscriptions": "A limit of each subscription of a topic. Default: none.",
  "dispatch.subscriptions": "A limit of one subscription, by topic and name. Default: none.",
  "limits.subscribe": "How often one consumer may subscribe to a topic. Default: not limited.",
  "subscribe.default": "Of each topic that has no other. Default: not limited.",
  "subscribe.namespaces": "Of the topics of a namespace. Default: none.",
  "subscribe.topics": "Of one topic. Default: none.",
  subscribes: "SUBSCRIBE commands in one period.",
  periodMs: "The period, ms. Default: 30000.",
  "limits.throttle":
    "How clients that know the throttle commands (PIP-385) are told to pause; `false`: none is told, all are held. Default: those of its keys.",
  "throttle.receiptWaitMs":
    "Pulsar's `throttleProducerReceiptWaitTimeMillis`: how long the receipt of a notice is waited for. Default: 100.",
  "throttle.earlyPercent":
    "A notice goes out once less than this part of a bucket is left; raised, clients pause earlier and less is held. Default: 2.5.",
  "throttle.resumePercent":
    "A pause lasts until this part is there again; at least `earlyPercent`. Default: 4.",
  "throttle.pauseMinMs": "No notice is sent for a shorter pause. Default: 5.",
  "throttle.pauseMaxMs":
    "The longest pause of one notice; another follows with the rest. Default: none.",
  "throttle.unheededMax":
    "Notices in a row without a receipt in time, after which a connection gets no more. Default: 10.",
  "throttle.numbers":
    "The numbers on the wire; clients must have the same. Default: those of its keys.",
  "numbers.throttleProducer": "Type of the throttle command. Default: 1001.",
  "numbers.throttleProducerReceipt": "Type of its receipt. Default: 1002.",
  "numbers.featureFlag":
    "Field of the feature flag by which a client says that it knows them. Default: 1001.",
  "source.pulsar.topic": "The topic to consume.",
  "pulsar.topic": "The topic to publish to.",
  "nats.user": "User of the server. Default: none.",
  "nats.passwordFile": "A file with the user's password. Default: none.",
  "kafka.tls": "Encrypts the connections. Default: false.",
  "kafka.sasl": "How the client says who it is. Default: not at all.",
  "sasl.mechanism": "The mechanism of the cluster.",
  "sasl.username": "User of the cluster.",
  "sasl.passwordFile": "A file with the user's password.",
  "busy.rule":
    "`sluice`: one cut for each generation of requests in flight. `table` and `prose`: TChannel's document.",
  thresholdPercentage:
    "The part of its share that a replica must use for the ceiling to grow, %. Default: 50.",
  coolDownPeriod: "A gap up to this long is one normal step. Default: 5s.",
  rampDownPercentage:
    "How far the ceiling falls with each missed second after that, % of max − min. Default: 50.",
  "NAME.retry": "Tries of a message that could not be processed. Default: those of its keys.",
  "NAME.fleet": "The replicas that share the limits of this pipeline. Default: those of its keys.",
};

/** The description of a key, by its path with `NAME` for chosen names; undefined if it has none here. */
export function keyDescription(path: readonly string[]): string | undefined {
  for (let from = 0; from < path.length; from++) {
    const text = KEY_DESCRIPTIONS[path.slice(from).join(".")];
    if (text !== undefined) return text;
  }
  return undefined;
}
