// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

import com.jcraft.jsch.ChannelExec;
import com.jcraft.jsch.JSch;
import com.jcraft.jsch.Session;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;

/**
 * Runs a command by JSch, with the algorithms that JSch negotiates by default.
 *
 * <pre>java -cp /usr/share/java/jsch.jar JSchClient.java PORT COMMAND</pre>
 */
public class JSchClient {
    public static void main(String[] args) throws Exception {
        Session session = new JSch().getSession("interop", "127.0.0.1", Integer.parseInt(args[0]));
        session.setConfig("StrictHostKeyChecking", "no");
        session.connect(); // tries the method none first
        ChannelExec channel = (ChannelExec) session.openChannel("exec");
        channel.setCommand(args[1]);
        channel.setInputStream(new FileInputStream(FileDescriptor.in));
        channel.setOutputStream(new FileOutputStream(FileDescriptor.out));
        channel.setErrStream(new FileOutputStream(FileDescriptor.err), true);
        channel.connect();
        // JSch copies in its own threads, and tells nobody when the channel closes.
        while (!channel.isClosed()) {
            Thread.sleep(10);
        }
        int status = channel.getExitStatus();
        if (status < 0) {
            System.err.println("JSchClient: the command ended without an exit status");
            status = 1;
        }
        System.exit(status); // does not wait for the end of standard input
    }
}
