// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//! Runs a command by russh, with the algorithms that russh negotiates by default.
//!
//!     russh-client PORT COMMAND

use std::error::Error;
use std::process::exit;
use std::sync::Arc;

use russh::client::{connect, Config, Handler, Msg};
use russh::keys::PublicKeyOrCertificate;
use russh::{ChannelMsg, ChannelWriteHalf};
use tokio::io::{stderr, stdin, stdout, AsyncReadExt, AsyncWriteExt};

struct AnyHostKey;

impl Handler for AnyHostKey {
    type Error = russh::Error;

    async fn check_server_key(&mut self, _: &PublicKeyOrCertificate) -> Result<bool, russh::Error> {
        Ok(true)
    }
}

/// Copies standard input to the command. It ends early if the command does.
async fn send(channel: ChannelWriteHalf<Msg>) {
    let mut input = stdin();
    loop {
        let mut data = Vec::with_capacity(1 << 18);
        match input.read_buf(&mut data).await {
            Err(err) => fail(err.into()),
            Ok(0) => break,
            Ok(_) => {
                if channel.data_bytes(data).await.is_err() {
                    return;
                }
            }
        }
    }
    let _ = channel.eof().await;
}

async fn run() -> Result<u32, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, port, command] = args.as_slice() else {
        return Err("usage: russh-client PORT COMMAND".into());
    };
    let address = ("127.0.0.1", port.parse::<u16>()?);
    let mut session = connect(Arc::new(Config::default()), address, AnyHostKey).await?;
    if !session.authenticate_none("interop").await?.success() {
        return Err("the server does not accept the method none".into());
    }
    let channel = session.channel_open_session().await?;
    channel.exec(true, command.as_str()).await?;
    let (mut reader, writer) = channel.split();
    tokio::spawn(send(writer));

    let mut status = None;
    let (mut out, mut err) = (stdout(), stderr());
    while let Some(msg) = reader.wait().await {
        match msg {
            ChannelMsg::Data { data } => {
                out.write_all(&data).await?;
                out.flush().await?;
            }
            ChannelMsg::ExtendedData { data, .. } => {
                err.write_all(&data).await?;
                err.flush().await?;
            }
            ChannelMsg::Failure => return Err("the server refused the command".into()),
            ChannelMsg::ExitStatus { exit_status } => status = Some(exit_status),
            _ => {}
        }
    }
    status.ok_or("the command ended without an exit status".into())
}

fn fail(err: Box<dyn Error>) -> ! {
    eprintln!("russh-client: {err}");
    exit(1)
}

// It ends by exit, which does not wait for the end of standard input.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    match run().await {
        Ok(status) => exit(status as i32),
        Err(err) => fail(err),
    }
}
