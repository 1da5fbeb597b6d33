// An HTTP server on the loopback interface that answers every request in the same way.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace facesat::test {

class Server {
 public:
  // A connection. Its functions do nothing when the other side has gone, or the server ends.
  class Client {
   public:
    Client(int socket, const std::atomic<bool>& ends) : socket_(socket), ends_(ends) {}
    bool send(std::string_view text) {
      while (!text.empty() && !ends_ && !is_gone_) {
        const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
        is_gone_ = count < 0 && errno != EAGAIN && errno != EINTR;  // EAGAIN: after 100 ms
      }
      return text.empty();
    }
    bool send_frame(const std::string& jpeg) {
      return send(fmt::format("--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n",
                              jpeg.size()) +
                  jpeg + "\r\n");
    }
    bool begin_stream() {
      return send(
          "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=frame\r\n\r\n");
    }
    // Sends nothing more, and keeps the connection.
    void stall() const {
      while (!ends_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }

   private:
    int socket_;
    const std::atomic<bool>& ends_;
    bool is_gone_ = false;
  };

  explicit Server(std::function<void(Client&)> answer) : answer_(std::move(answer)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(socket_, 5) != 0 ||
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("cannot listen");
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~Server() {
    ends_ = true;
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  std::string url(const std::string& path = "stream.mjpg", const std::string& login = "") const {
    return fmt::format("http://{}127.0.0.1:{}/{}", login, port, path);
  }
  // The first lines of all requests so far.
  std::string requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }

  int port = 0;

 private:
  void run() {
    while (true) {
      const int socket = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      const timeval at_most{0, 100'000};
      ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &at_most, sizeof(at_most));
      std::string request(4096, '\0');
      request.resize(static_cast<std::size_t>(
          std::max<ssize_t>(0, ::recv(socket, request.data(), request.size(), 0))));
      {
        const std::scoped_lock lock(mutex_);
        requests_ += request.substr(0, request.find('\n')) + "\n";
      }
      Client client(socket, ends_);
      answer_(client);
      ::close(socket);
    }
  }

  std::function<void(Client&)> answer_;
  int socket_ = -1;
  std::atomic<bool> ends_ = false;
  mutable std::mutex mutex_;
  std::string requests_;
  std::thread thread_;
};

}  // namespace facesat::test
