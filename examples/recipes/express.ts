import { createServer } from "node:http";
import { limitHttp } from "@sluice/egress/server";
import express from "express";

const app = express();
app.set("trust proxy", 1); // the number of proxies before this server: the key is the client's address
app.use(limitHttp({ rate: "100/min", concurrency: 50 }));
app.get("/", (_request, response) => response.end("hello"));
export const server = createServer(app); // server.listen(8080)
